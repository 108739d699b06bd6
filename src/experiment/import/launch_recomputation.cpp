#include "launch_recomputation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <sstream>

namespace tessera::experiment::importing {
namespace {

/// A module of Megatron core (megatron/core/transformer/transformer_config.py, `recompute_modules`).
struct Module {
  std::string_view name;
  std::array<std::string_view, 6> sections;  ///< of a layer here; none: not modelled
  std::string_view why = {};
};
constexpr auto modules = std::to_array<Module>({
    {"core_attn", {"attention_core"}},
    {"layernorm", {"attention_norm", "mlp_norm"}},
    {"mlp", {"fc1", "activation", "fc2"}},
    {"moe", {"router", "dispatch", "fc1", "activation", "fc2", "combine"}},
    {"moe_act", {}, "the experts of a layer run together"},
    {"mla_up_proj", {}, "it is a part of the section qkv"},
    {"shared_experts", {}, "the experts of a layer run together"},
});

/// Names between blanks, commas and brackets, in lower case.
std::vector<std::string> names_in(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return std::string_view(",[]'\"").find(c) != std::string_view::npos; }, ' ');
  std::istringstream words(lower(text));
  std::vector<std::string> names;
  for (std::string word; words >> word;) names.push_back(word);
  return names;
}

/// Why a module cannot be said; empty: it can. An MLP that runs again is that of every layer here, so that both kinds
/// of layers of one model cannot be told apart.
std::string refusal(const Module& module, const Draft& draft) {
  if (!module.why.empty()) return std::string(module.why);
  const bool has_experts = whole_in(draft, "model.experts", 0) > 0;
  if (module.name == "moe" && !has_experts) return "the model has no experts";
  const bool is_mixed = find(draft, "model.layer_sequence") != nullptr;
  if ((module.name == "mlp" && has_experts) || (module.name == "moe" && is_mixed))
    return "sections are those of all layers, with experts or without";
  return {};
}

/// As `recomputed_sections`; nothing after an error.
config::Array sections_of(const Flag& flag, const std::vector<std::string>& names, const Draft& draft,
                          config::Diagnostics& diagnostics) {
  config::Array found;
  const auto refuse = [&](const std::string& name, const std::string& why) {
    diagnostics.error(flag.where, fmt::format("{} {}: not modelled: {}; strategy.megatron.recomputed_sections lists "
                                              "sections, --without {} takes core_attn",
                                              flag.given, name, why, flag.given));
  };
  for (const std::string& name : names) {
    const auto module = std::ranges::find(modules, name, &Module::name);
    if (module == modules.end()) {
      refuse(name, "no module that is known");
      return {};
    }
    if (const std::string why = refusal(*module, draft); !why.empty()) {
      refuse(name, why);
      return {};
    }
    for (const std::string_view section : module->sections)
      if (!section.empty()) found.push_back({std::string(section), {}});
  }
  return found;
}

void read_modules(const Flags& flags, Draft& draft, config::Diagnostics& diagnostics) {
  const Flag* flag = find(flags, "recompute_modules");
  const std::vector<std::string> names = flag == nullptr ? std::vector<std::string>{} : names_in(flag->value);
  if (names.empty() || names == std::vector<std::string>{"core_attn"}) {
    const Flag* said =
        flag != nullptr ? flag : first_of(flags, {"recompute_granularity", "activations_checkpoint_granularity"});
    return put(draft, "strategy.recomputation", std::string("selective"), said == nullptr ? "" : said->given);
  }
  const config::Array again = sections_of(*flag, names, draft, diagnostics);
  if (again.empty()) return;
  put(draft, "strategy.recomputation", std::string("none"), "sections are listed");
  put(draft, "strategy.recomputed_sections", again, fmt::format("{} {}", flag->given, fmt::join(names, " ")));
  if (std::ranges::find(names, "core_attn") != names.end())
    draft.remarks.emplace_back(
        "Megatron core keeps what core_attn makes; beside other sections it runs again here and is not kept.");
}

/// "block": the first n layers of a chunk, "uniform": all in groups of n; n is 1 where it is not given.
void read_repeated_layers(const Flags& flags, Draft& draft, config::Diagnostics& diagnostics) {
  const Flag* layers = first_of(flags, {"recompute_num_layers", "activations_checkpoint_num_layers"});
  const Flag* method = first_of(flags, {"recompute_method", "activations_checkpoint_method"});
  const std::int64_t number =
      layers == nullptr ? 0 : count_in(flags, layers->name, diagnostics).value_or(0);  // 0: not given
  const std::string how = method != nullptr && is_on(flags, method->name) ? lower(method->value) : "";
  if (how.empty() && number > 0)
    return diagnostics.error(layers->where, fmt::format("{} {}: of each chunk, or of each group of layers? "
                                                        "--recompute-method block or uniform says it; --without {} "
                                                        "computes each again by itself",
                                                        layers->given, number, layers->given));
  if (!how.empty() && how != "block" && how != "uniform")
    return diagnostics.error(method->where, fmt::format("{}: \"{}\" is not modelled, what is: block, uniform",
                                                        method->given, method->value));
  if (how.empty() || (how == "uniform" && number < 2)) return;
  put(draft, "strategy.recomputed_layers", std::max<std::int64_t>(1, number),
      layers == nullptr ? method->given : layers->given);
  put(draft, "strategy.recomputation_method", how, method->given);
}

}  // namespace

void read_recomputation(const Flags& flags, Draft& draft, config::Diagnostics& diagnostics) {
  const Flag* granularity = first_of(flags, {"recompute_granularity", "activations_checkpoint_granularity"});
  const bool old_style = is_on(flags, "checkpoint_activations") ||
                         (granularity == nullptr && is_on(flags, "activations_checkpoint_method"));
  std::string value = is_on(flags, "recompute_activations") ? "selective" : old_style ? "full" : "none";
  if (granularity != nullptr && is_on(flags, granularity->name)) value = lower(granularity->value);
  if (value != "none" && value != "selective" && value != "full")
    return diagnostics.error(granularity->where,
                             fmt::format("{}: \"{}\" is not modelled, what is: none, selective, full",
                                         granularity->given, granularity->value));
  if (value == "selective") return read_modules(flags, draft, diagnostics);
  put(draft, "strategy.recomputation", value, granularity == nullptr ? "" : granularity->given);
  if (value == "full") read_repeated_layers(flags, draft, diagnostics);
}

}  // namespace tessera::experiment::importing
