#include "parameter_gathering.hpp"

#include <set>

#include "prediction_blocks.hpp"
#include "update.hpp"
#include "vision_blocks.hpp"

namespace tessera::strategy::megatron {
namespace {

using program::PipelineAction;

void gather(Writer& beside, const workload::ParameterShare& share, const workload::ParameterShare& products = {}) {
  gather_weights(beside, {dense_beside, share.sharded + share.replicated, products.sharded + products.replicated});
  gather_weights(beside, {expert_beside, share.expert, products.expert});
  beside.builder().signal(weights_gathered);
}

void gather_chunk(Writer& beside, const StageBlocks& blocks, const ChunkPlace& at) {
  const Cut& cut = beside.cut();
  const workload::Model& model = *cut.model;
  if (blocks.has_embedding(at)) {
    workload::ParameterShare share = workload::embedding_parameters(model, cut.layer_shape(0, 0));
    share.replicated += vision_weights(cut).trained;  // before the first pass, along with it
    gather(beside, share);
  }
  for (const LayerRun& run : blocks.runs(at)) {
    const auto share = workload::layer_parameters(model, cut.layer_shape(run.kind, 0));
    const auto products = workload::product_weights(model, cut.layer_shape(run.kind, 0));
    for (std::uint32_t i = 0; i < run.layers; ++i) gather(beside, share, products);
  }
  for (std::int64_t i = cut.predictions(at.stage, at.chunk); i > 0; --i)
    gather(beside, workload::prediction_parameters(model, cut.prediction_shape()),
           workload::prediction_products(model, cut.prediction_shape()));
  if (blocks.has_head(at)) gather(beside, last_stage_parameters(cut));
}

}  // namespace

bool gathers_beside_forward(const Cut& cut) {
  const Options& options = cut.options;
  return cut.training() && options.overlap_parameter_gathering && options.distributed_optimizer && cut.holders() > 1;
}

void mark_first_passes(std::vector<PipelineAction>& actions) {
  std::set<std::uint32_t> seen;
  for (PipelineAction& action : actions)
    if (action.kind == PipelineAction::Kind::forward) action.first = seen.insert(action.chunk).second;
}

void write_gathering(Writer& beside, const StageBlocks& blocks, std::uint32_t stage,
                     const std::vector<PipelineAction>& actions) {
  for (const PipelineAction& action : actions)
    if (action.first) gather_chunk(beside, blocks, {stage, action.chunk, 0});
}

void wait_for_weights(Writer& main) {
  main.builder().label("weight all-gather").activity(Activity::data_communication).wait(weights_gathered);
}

}  // namespace tessera::strategy::megatron
