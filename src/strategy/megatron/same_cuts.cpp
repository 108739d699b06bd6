#include "same_cuts.hpp"

#include <algorithm>

#include "parameter_gathering.hpp"
#include "tessera/program/schedule.hpp"

namespace tessera::strategy::megatron {
namespace {

bool has_none(const workload::Recomputed& recomputed) { return recomputed.again.none(); }

std::int64_t longest_chunk(const Cut& cut) {
  std::int64_t most = 0;
  for (std::size_t i = 1; i < cut.chunk_begin.size(); ++i)
    most = std::max(most, cut.chunk_begin[i] - cut.chunk_begin[i - 1]);
  return most;
}

/// As many as the longest chunk has are all of them; groups of one are each layer by itself, larger ones than that
/// chunk as large as it.
void settle_repeated_layers(const Cut& cut, Options& options) {
  if (std::ranges::all_of(cut.recomputed, has_none)) options.recomputed_layers = 0;
  const std::int64_t most = longest_chunk(cut);
  if (options.recomputation_method == RecomputationMethod::block) {
    if (options.recomputed_layers >= most) options.recomputed_layers = 0;
    return;
  }
  options.recomputed_layers = std::min(options.recomputed_layers, most);
  if (options.recomputed_layers > 1) return;
  options.recomputed_layers = 0;
  options.recomputation_method = RecomputationMethod::block;
}

/// Orders differ on the last stage first, where they differ at all.
bool is_same(const program::PipelineOrder& a, const program::PipelineOrder& b, const program::PipelineShape& shape) {
  for (std::uint32_t stage = shape.stages; stage-- > 0;)
    if (a.actions(shape, stage) != b.actions(shape, stage)) return false;
  return true;
}

}  // namespace

void settle_idle_keys(Cut& cut) {
  const Options idle;
  Options& options = cut.options;
  if (!cut.shares_sequences()) options.context_exchange = idle.context_exchange;
  if (cut.expert_tensor() == options.tensor) options.expert_tensor = idle.expert_tensor;
  if (cut.micro_batches == 1) options.sums_groups_last = idle.sums_groups_last;
  if (!options.shards_parameters()) options.gather_ahead = idle.gather_ahead;
  if (!options.shards_parameters() || !cut.training()) options.reshard_after_forward = idle.reshard_after_forward;
  if (!gathers_beside_forward(cut)) options.overlap_parameter_gathering = idle.overlap_parameter_gathering;
  // Stages with a number of their own have it whatever the others have.
  const auto is_own = [](const StageOptions& stage) { return stage.recomputed_layers >= 0; };
  if (!std::ranges::any_of(options.stages, is_own)) settle_repeated_layers(cut, options);
}

SameCuts::Key SameCuts::key(const Cut& cut) {
  const Options& o = cut.options;
  const bool reduces = cut.training() && (cut.holders() > 1 || cut.expert_replicas() > 1);
  Again again;
  for (const workload::Recomputed& one : cut.recomputed) again.emplace_back(one.again.to_ullong(), one.drops_outputs);
  if (std::ranges::adjacent_find(again, std::not_equal_to<>()) == again.end()) again.resize(1);
  return {{o.tensor, o.context_parallel, o.pipeline, o.data, o.micro_batch, o.interleave, o.expert_parallel,
           o.expert_tensor, o.recomputed_layers, o.shard_ranks, o.gather_ahead},
          schedule(cut),
          {static_cast<int>(o.recomputation_method), static_cast<int>(cut.uses_sequence_parallelism()),
           static_cast<int>(o.data_sharding), static_cast<int>(reduces && o.distributed_optimizer),
           static_cast<int>(reduces && o.overlap_gradient_reduction), static_cast<int>(o.context_exchange),
           static_cast<int>(o.reshard_after_forward), static_cast<int>(o.overlap_parameter_gathering),
           static_cast<int>(o.once_a_node), static_cast<int>(o.overlap_shared_experts),
           static_cast<int>(o.sums_groups_last)},
          std::move(again)};
}

/// The first order that does the same on all stages.
const std::string& SameCuts::schedule(const Cut& cut) {
  const program::PipelineShape shape{static_cast<std::uint32_t>(cut.options.pipeline),
                                     static_cast<std::uint32_t>(cut.options.interleave),
                                     static_cast<std::uint32_t>(cut.micro_batches), cut.training()};
  const std::string own = cut.workload->phase == workload::Phase::generation ? "" : cut.options.schedule;
  const auto [known, added] = known_.try_emplace({shape.stages, shape.chunks, shape.micro_batches, own}, own);
  if (!added || own.empty()) return known->second;
  for (const program::PipelineOrder& order : program::pipeline_orders()) {
    if (order.name == own) break;
    if (order.check(shape).empty() && is_same(order, *program::find_pipeline_order(own), shape)) {
      known->second = order.name;
      break;
    }
  }
  return known->second;
}

}  // namespace tessera::strategy::megatron
