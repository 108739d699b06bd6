#include "launch_layers.hpp"

#include <fmt/format.h>

#include <charconv>

namespace tessera::experiment::importing {
namespace {

/// "[a, b] * n + [c]", of zeros and ones: megatron/training/arguments.py hands it to Python.
class LayerPattern {
 public:
  explicit LayerPattern(std::string_view text) {
    for (const char c : text)
      if (c != ' ' && c != '(' && c != ')') text_ += c;
  }

  /// Empty where it is something else.
  std::vector<std::string> sequence() {
    std::vector<std::string> all;
    do {
      const std::vector<std::string> list = one_list();
      const std::int64_t times = taken('*') ? number() : 1;
      if (list.empty() || times < 1 || times > 100'000) return {};
      if (list.size() == 1)
        all.push_back(times == 1 ? list[0] : fmt::format("{} * {}", list[0], times));
      else
        for (std::int64_t i = 0; i < times; ++i) all.insert(all.end(), list.begin(), list.end());
    } while (taken('+'));
    return at_ == text_.size() ? all : std::vector<std::string>{};
  }

 private:
  bool taken(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  /// -1 where there is none.
  std::int64_t number() {
    std::int64_t value = -1;
    const char* end = text_.data() + text_.size();
    const auto [parsed, problem] = std::from_chars(text_.data() + at_, end, value);
    if (problem != std::errc{}) return -1;
    at_ = static_cast<std::size_t>(parsed - text_.data());
    return value;
  }
  std::vector<std::string> one_list() {
    std::vector<std::string> list;
    if (!taken('[')) return {};
    do {
      const std::int64_t value = number();
      if (value != 0 && value != 1) return {};
      list.emplace_back(value == 1 ? "moe" : "dense");
    } while (taken(','));
    return taken(']') ? list : std::vector<std::string>{};
  }

  std::string text_;
  std::size_t at_ = 0;
};

/// Columns that all tokens take besides, as a number of experts.
std::int64_t shared_experts(const Flags& flags, std::int64_t width, config::Diagnostics& diagnostics) {
  const auto columns = count_in(flags, "moe_shared_expert_intermediate_size", diagnostics);
  if (!columns) return 0;
  if (width > 0 && *columns % width == 0) return *columns / width;
  diagnostics.error(find(flags, "moe_shared_expert_intermediate_size")->where,
                    fmt::format("shared experts of {} columns: not modelled, those that are have a multiple of an "
                                "expert's {}",
                                *columns, width));
  return 0;
}

/// Multi-head latent attention: megatron/training/arguments.py has the defaults (no rank of queries, 32 of keys and
/// values, heads of 128 and 64 besides that positions turn). Norms of what is compressed are always there.
void read_latent_attention(const Flags& flags, Draft& draft, config::Diagnostics& diagnostics) {
  struct Width {
    const char *option, *key;
    std::int64_t otherwise;
  };
  std::int64_t head = 0;
  for (const Width& width : {Width{"q_lora_rank", "model.query_rank", 0}, Width{"kv_lora_rank", "model.kv_rank", 32},
                             Width{"qk_head_dim", "", 128}, Width{"qk_pos_emb_head_dim", "model.rotary_dim", 64},
                             Width{"v_head_dim", "model.value_dim", 128}}) {
    const std::int64_t columns = count_in(flags, width.option, diagnostics).value_or(width.otherwise);
    const Flag* flag = find(flags, width.option);
    const std::string key = width.key, note = flag == nullptr ? "its default" : flag->given;
    if (key.empty() || key == "model.rotary_dim") head += columns;
    if (!key.empty() && columns > 0) put(draft, key, columns, note);
  }
  put(draft, "model.head_dim", head, "qk_head_dim + qk_pos_emb_head_dim");
}

/// What of experts runs beside their tokens' way there and back.
void read_expert_overlap(const Flags& flags, std::int64_t shared, Draft& draft, config::Diagnostics& diagnostics) {
  const auto warn = [&](const char* flag, const char* without) {
    if (is_on(flags, flag))
      diagnostics.warn(find(flags, flag)->where,
                       fmt::format("{} has no effect without {}", find(flags, flag)->given, without));
  };
  if (shared == 0)
    warn("moe_shared_expert_overlap", "shared experts");
  else if (is_on(flags, "moe_shared_expert_overlap"))
    put(draft, "strategy.overlap_shared_experts", true, "--moe-shared-expert-overlap");
  if (!is_on(flags, "overlap_moe_expert_parallel_comm"))
    return warn("delay_wgrad_compute", "--overlap-moe-expert-parallel-comm");
  put(draft, "strategy.schedule", std::string("combined-1f1b"), "--overlap-moe-expert-parallel-comm");
  if (is_on(flags, "delay_wgrad_compute")) put(draft, "strategy.delay_weight_gradients", true, "--delay-wgrad-compute");
}

/// --window-size LEFT,0: tokens before a token that it attends to.
void read_window(const Flags& flags, Draft& draft, config::Diagnostics& diagnostics) {
  const Flag* window = find(flags, "window_size");
  if (window == nullptr || !is_on(flags, "window_size")) return;
  const std::size_t digits = std::min(window->value.find_first_of("0123456789"), window->value.size());
  std::int64_t before = 0;
  const char* end = window->value.data() + window->value.size();
  const bool is_number = std::from_chars(window->value.data() + digits, end, before).ec == std::errc{};
  const Flag* skips = find(flags, "window_attn_skip_freq");
  if (skips != nullptr && is_on(flags, "window_attn_skip_freq"))
    diagnostics.error(skips->where, fmt::format("{} {}: windows in some layers; --without {} has them in all, and "
                                                "model.layer_kinds says which have one",
                                                skips->given, skips->value, skips->given));
  else if (is_number && before >= 1)
    put(draft, "model.sliding_window", before + 1, window->given + " " + window->value);
  else
    diagnostics.error(window->where, fmt::format("{}: expected tokens before and behind, such as 4096,0, found \"{}\"",
                                                 window->given, window->value));
}

}  // namespace

std::vector<std::string> expert_sequence(const Flag& flag, config::Diagnostics& diagnostics) {
  const bool is_number = !flag.value.empty() && flag.value.find_first_not_of("0123456789") == std::string::npos;
  if (is_number) {
    const auto interval = count_in({flag}, flag.name, diagnostics);
    if (!interval || *interval == 1) return {};
    return {"moe", *interval == 2 ? "dense" : fmt::format("dense * {}", *interval - 1)};
  }
  std::vector<std::string> sequence = LayerPattern(flag.value).sequence();
  if (sequence.empty())
    diagnostics.error(flag.where, fmt::format("{}: expected n, or a pattern such as \"([0]*3+[1]*58)\", found \"{}\"",
                                              flag.given, flag.value));
  return sequence;
}

void read_layer_kinds(const Flags& flags, Draft& draft, config::Diagnostics& diagnostics) {
  read_window(flags, draft, diagnostics);
  if (is_on(flags, "multi_latent_attention"))
    read_latent_attention(flags, draft, diagnostics);
  else if (const Flag* norm = find(flags, "qk_layernorm"); norm != nullptr && is_on(flags, "qk_layernorm"))
    put(draft, "model.query_key_norm", std::string("shared"), norm->given);
  const std::int64_t experts = whole_in(draft, "model.experts", 0);
  if (experts == 0) return;
  if (find(draft, "model.experts_per_token") == nullptr)
    put(draft, "model.experts_per_token", std::int64_t{2}, "--moe-router-topk, 2 when absent");
  const std::int64_t dense = whole_in(draft, "model.ffn_hidden", 4 * whole_in(draft, "model.hidden", 0));
  const std::int64_t width = count_in(flags, "moe_ffn_hidden_size", diagnostics).value_or(dense);
  const std::int64_t shared = shared_experts(flags, width, diagnostics);
  const Flag* capacity = find(flags, "moe_expert_capacity_factor");
  if (capacity != nullptr && is_on(flags, "moe_expert_capacity_factor"))
    put(draft, "strategy.capacity_factor", std::strtod(capacity->value.c_str(), nullptr), capacity->given);
  put(draft, "model.ffn_hidden", width, width == dense ? "" : "--moe-ffn-hidden-size");
  if (shared > 0) put(draft, "model.shared_experts", shared, "--moe-shared-expert-intermediate-size");
  read_expert_overlap(flags, shared, draft, diagnostics);
  const Flag* every = find(flags, "moe_layer_freq");
  const std::vector<std::string> sequence =
      every == nullptr ? std::vector<std::string>{} : expert_sequence(*every, diagnostics);
  if (sequence.empty()) return;
  config::Array kinds;
  for (const std::string& one : sequence) kinds.push_back({one, {}});
  put(draft, "model.layer_sequence", kinds, every->given + " " + every->value);
  std::string without = "name = \"dense\", experts = 0, experts_per_token = 0, shared_experts = 0";
  for (const char* key : {"expert_groups", "groups_per_token"})
    if (find(draft, fmt::format("model.{}", key)) != nullptr) without += fmt::format(", {} = 0", key);
  if (find(draft, "model.shared_gate") != nullptr) without += ", shared_gate = false";
  draft.lists.push_back(
      {"model", "layer_kinds", {fmt::format("{}, ffn_hidden = {}", without, dense), "name = \"moe\""}});
}

}  // namespace tessera::experiment::importing
