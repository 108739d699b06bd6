#include "context_exchange.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "section_run.hpp"

namespace tessera::strategy::megatron {

Activity context_communication(program::Program& program, const Cut& cut) {
  return cut.shares_sequences() ? program::activity_named(program, "context_communication")
                                : Activity::other_communication;
}

void core_forward(Writer& writer, const workload::OperatorSet& set, Activity activity, Activity exchange) {
  const Bytes room{set.exchange_buffers};
  writer.builder().allocate(MemoryCategory::buffers, room);
  SectionRun(writer, set.exchange_steps, exchange).write(set.forward, activity);
  writer.builder().release(MemoryCategory::buffers, room);
}

void core_backward(Writer& writer, const workload::OperatorSet& set, Activity exchange) {
  const Bytes room{set.gradient_exchange_buffers};
  writer.builder().allocate(MemoryCategory::buffers, room);
  SectionRun(writer, set.gradient_exchange_steps, exchange).write(set.input_gradient, Activity::backward);
  writer.run(set.weight_gradient, Activity::backward);
  writer.builder().release(MemoryCategory::buffers, room);
}

namespace {

class ContextChecker {
 public:
  ContextChecker(const config::Table& table, const Job& job, const Cut& cut, config::Diagnostics& diagnostics)
      : table_(table), job_(job), cut_(cut), options_(cut.options), model_(*job.model), diagnostics_(diagnostics) {}

  void run() {
    if (!cut_.shares_sequences())
      return warn_if_given(table_, options_, "context_exchange", &Options::context_exchange,
                           "with context_parallel = 1", diagnostics_);
    check_others();
    check_sequence();
    check_windows();
    if (options_.context_exchange == workload::ContextExchange::all_to_all) check_heads();
  }

 private:
  template <class... Arguments>
  void error(const char* key, fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    diagnostics_.error(where_of(table_, key), fmt::format(text, std::forward<Arguments>(arguments)...));
  }
  /// Of what does not know that a sequence is on several ranks.
  void check_others() {
    const auto refuse = [&](bool is_given, const char* key, const char* what, const char* allowed) {
      if (is_given)
        error(key, "context_parallel = {} does not go together with {}, allowed: {}", options_.context_parallel, what,
              allowed);
    };
    refuse(job_.workload.generates(), "context_parallel", "workload.phase = \"generation\", one token at a time",
           "context_parallel = 1");
    refuse(!job_.workload.flash_attention, "context_parallel",
           "workload.flash_attention = false, whose results cannot be merged", "flash_attention = true");
    refuse(!options_.loans.empty(), "loans", "loans", "no loans, or context_parallel = 1");
    refuse(options_.streams_weights(), "weight_streaming", "weight_streaming", "weight_streaming = \"off\"");
    refuse(options_.sublayers != "operators", "sublayers", "sublayers", "sublayers = \"operators\"");
    refuse(cut_.is_two_dimensional(), "tensor_rows", "tensor_rows", "tensor_rows = 1");
    refuse(options_.whole_attention, "attention", "attention = \"whole\"", "attention = \"cut\"");
  }
  void check_sequence() {
    const std::int64_t pieces = 2 * options_.context_parallel, sequence = job_.workload.sequence;
    if (job_.workload.generates() || sequence % pieces == 0) return;
    error("context_parallel",
          "workload.sequence = {} is not a multiple of 2 x context_parallel = {}: each rank has two pieces of it",
          sequence, pieces);
  }
  /// As Transformer Engine has it: attn_forward_func_with_cp.
  void check_windows() {
    if (const std::string mixer = workload::other_mixer(model_); !mixer.empty())
      return error("context_parallel",
                   "model {} has {}, whose states are not handed from rank to rank, allowed: context_parallel = 1",
                   model_.name, mixer);
    for (std::uint32_t kind = 0; kind < workload::layer_kinds(model_); ++kind) {
      if (workload::layer_kind(model_, kind).attention_chunk > 0)
        return error("context_parallel",
                     "model {} has attention in chunks, which is not exchanged yet, allowed: context_parallel = 1",
                     model_.name);
    }
    if (options_.context_exchange != workload::ContextExchange::ring) return;
    for (std::uint32_t kind = 0; kind < workload::layer_kinds(model_); ++kind) {
      if (workload::layer_kind(model_, kind).sliding_window == 0) continue;
      return error("context_exchange",
                   "the ring has no windows of attention, and model {} has some, allowed: \"all-gather\", "
                   "\"all-to-all\"",
                   model_.name);
    }
  }
  void check_heads() {
    for (std::uint32_t kind = 0; kind < workload::layer_kinds(model_); ++kind) {
      const workload::LayerFields& layer = workload::layer_kind(model_, kind);
      if (!deals_out(layer.heads, "heads") || !deals_out(layer.kv_heads, "key-value heads")) return;
    }
  }
  bool deals_out(std::int64_t heads, const char* what) {
    const std::int64_t t = options_.tensor, c = options_.context_parallel;
    const std::int64_t each = options_.pad_heads ? (heads + t - 1) / t : std::max<std::int64_t>(1, heads / t);
    if (each % c == 0) return true;
    error("context_exchange",
          "\"all-to-all\" deals out the {} {} of a tensor rank to context_parallel = {} ranks, which does not divide "
          "them, allowed: \"ring\", \"all-gather\"",
          each, what, c);
    return false;
  }

  const config::Table& table_;
  const Job& job_;
  const Cut& cut_;
  const Options& options_;
  const workload::Model& model_;
  config::Diagnostics& diagnostics_;
};

}  // namespace

void check_context(const config::Table& table, const Job& job, const Cut& cut, config::Diagnostics& diagnostics) {
  ContextChecker(table, job, cut, diagnostics).run();
}

}  // namespace tessera::strategy::megatron
