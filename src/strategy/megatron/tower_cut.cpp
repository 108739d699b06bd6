#include "tower_cut.hpp"

#include "parallel_linear.hpp"

namespace tessera::strategy::megatron {
namespace {

/// Stacks say of the language model's layers what runs in them besides, and in which datatypes their products are: a
/// tower is of the workload's datatype, as quantised files leave it.
Workload tower_workload(const Cut& of, std::int64_t tokens, bool is_trained) {
  Workload workload = *of.workload;
  static_cast<workload::Precision&>(workload) = {};
  workload.operations.clear();
  workload.kv_cache_datatype.clear();
  workload.sequence = tokens;
  workload.phase = of.training() && is_trained ? workload::Phase::training : workload::Phase::prompt;
  return workload;
}

Options tower_options(const Cut& of, std::int64_t sequences) {
  Options options = of.options;
  options.micro_batch = sequences;
  options.pipeline = options.interleave = options.context_parallel = options.tensor_rows = 1;
  options.schedule = "1f1b";
  options.sequence_parallel = options.user_buffers = false;
  options.overlap_tensor_communication = has_beside_stream(of);
  options.whole_attention = false;
  return options;
}

}  // namespace

TowerCut::TowerCut(const Cut& of, const workload::Model& tower, const workload::VisionSequences& sequences,
                   bool is_trained)
    : workload_(tower_workload(of, sequences.tokens, is_trained)) {
  cut_.model = &tower;
  cut_.workload = &workload_;
  cut_.collectives = of.collectives;
  cut_.device_spec = of.device_spec;
  cut_.options = tower_options(of, sequences.count);
  cut_.phase = workload_.phase;
  cut_.caches_keys = false;
  cut_.chunk_begin = {0, tower.layers};
  cut_.recomputed = {workload::recomputed_by(of.options.vision_recomputation)};
  cut_.recomputed_layers = {0};
}

VisionCuts::VisionCuts(const Cut& cut)
    : model_(*cut.model),
      tower_(workload::tower_model(model_)),
      is_trained_(cut.training() && !model_.vision.frozen),
      tiles_(cut, tower_, workload::tile_sequences(model_.vision, cut.options.micro_batch), is_trained_),
      windows_(cut, tower_,
               model_.vision.window > 0 ? workload::window_sequences(model_.vision, cut.options.micro_batch)
                                        : workload::tile_sequences(model_.vision, cut.options.micro_batch),
               is_trained_),
      projected_(cut, tower_, workload::projected_sequences(model_.vision, cut.options.micro_batch), true) {}

}  // namespace tessera::strategy::megatron
