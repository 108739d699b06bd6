#include "prediction_blocks.hpp"

#include <fmt/format.h>

#include "section_run.hpp"

namespace tessera::strategy::megatron {
namespace {

using workload::PredictionOperators;

class Module {
 public:
  Module(program::Program& program, const Cut& cut, std::uint32_t stage, const PredictionParts& parts)
      : program_(program),
        cut_(cut),
        parts_(parts),
        own_(workload::prediction_operators(*cut.model, cut.prediction_shape())),
        runs_again_(cut.repeated(stage, prediction_repeat(cut, stage)).again.all()),
        all_(own_.combination.kept() + own_.projection.kept()) {}

  program::BlockId forward() {
    Writer writer(program_, cut_, "prediction forward");
    writer.builder().call(parts_.embedding.forward);
    run_own(writer, Activity::forward);
    writer.builder().allocate(MemoryCategory::activations, Bytes{kept()});
    writer.builder().call(parts_.layer.forward).call(parts_.head.forward);
    return writer.builder().done();
  }

  program::BlockId backward(bool is_beside) {
    Writer writer(program_, cut_, "prediction backward");
    if (is_beside) writer.beside_main();
    writer.builder().call(is_beside ? parts_.head.backward_beside : parts_.head.backward);
    run_again(writer);
    writer.builder().call(is_beside ? parts_.layer.backward_beside : parts_.layer.backward);
    column_backward(writer, own_.projection);
    plain_backward(writer, own_.combination);
    writer.builder().release(MemoryCategory::activations, Bytes{all_});
    writer.builder().call(is_beside ? parts_.embedding.backward_beside : parts_.embedding.backward);
    return writer.builder().done();
  }

  program::BlockId input_gradient() {
    Writer writer(program_, cut_, "prediction input gradient");
    writer.builder().call(parts_.head.input_gradient);
    run_again(writer);
    writer.builder().call(parts_.layer.input_gradient);
    column_input_gradient(writer, own_.projection);
    plain_backward(writer, own_.combination);
    writer.leave_activations(all_, needed_by_weights(cut_, own_.projection));
    writer.builder().call(parts_.embedding.backward);
    return writer.builder().done();
  }

  program::BlockId weight_gradient() {
    Writer writer(program_, cut_, "prediction weight gradient");
    writer.builder().call(parts_.head.weight_gradient).call(parts_.layer.weight_gradient);
    column_weight_gradient(writer, own_.projection);
    writer.builder().release(MemoryCategory::activations, Bytes{needed_by_weights(cut_, own_.projection)});
    return writer.builder().done();
  }

 private:
  /// B, from the forward to the backward pass.
  [[nodiscard]] std::int64_t kept() const { return runs_again_ ? own_.combination.kept_input : all_; }
  void run_own(Writer& writer, Activity activity) const {
    run_forward(writer, own_.combination, activity);
    column_forward(writer, own_.projection, activity);
  }
  void run_again(Writer& writer) const {
    if (!runs_again_) return;
    writer.builder().allocate(MemoryCategory::activations, Bytes{all_ - kept()});
    run_own(writer, Activity::recomputation);
  }

  program::Program& program_;
  const Cut& cut_;
  const PredictionParts& parts_;
  PredictionOperators own_;
  bool runs_again_;
  std::int64_t all_;  ///< B
};

}  // namespace

Repeat prediction_repeat(const Cut& cut, std::uint32_t stage) {
  if (cut.recomputed[stage].again.none()) return Repeat::none;
  const bool are_some = cut.options.recomputation_method == RecomputationMethod::block;
  return are_some && cut.recomputed_layers[stage] > 0 ? Repeat::none : Repeat::own;
}

EdgeBlocks add_prediction(program::Program& program, const Cut& cut, std::uint32_t stage,
                          const PredictionParts& parts) {
  Module module(program, cut, stage, parts);
  EdgeBlocks blocks;
  blocks.forward = module.forward();
  blocks.backward = module.backward(false);
  if (cut.goes_both_ways()) blocks.backward_beside = module.backward(true);
  if (!cut.splits_backward()) return blocks;
  blocks.input_gradient = module.input_gradient();
  blocks.weight_gradient = module.weight_gradient();
  return blocks;
}

std::vector<BesideWidths> prediction_widths(const Cut& cut) {
  const std::uint32_t kind = workload::prediction_kind(*cut.model);
  const auto own = workload::prediction_operators(*cut.model, cut.prediction_shape());
  std::vector<BesideWidths> widths = {head_widths(cut)};
  for (const BesideWidths& of_layer : beside_widths(cut, kind)) widths.push_back(of_layer);
  widths.push_back(beside_widths(cut, own.projection));
  return widths;
}

workload::ParameterShare last_stage_parameters(const Cut& cut) {
  const workload::Model& model = *cut.model;
  const auto shape = cut.layer_shape(0, 0);
  const bool has_own = !model.tied_embeddings || !cut.joins_ends();
  workload::ParameterShare share = workload::head_parameters(model, shape, has_own);
  if (cut.joins_ends() || !cut.predicts()) return share;
  const workload::ParameterShare embedding = workload::embedding_parameters(model, shape);
  if (!model.tied_embeddings) share.sharded += embedding.sharded;  // tied, the output weight is that copy
  share.replicated += embedding.replicated;
  return share;
}

void check_predictions(const config::Table& table, const Job& job, const Cut& cut, config::Diagnostics& diagnostics) {
  if (!cut.predicts()) return;
  const Options& options = cut.options;
  const auto refuse = [&](bool is_given, const char* key, const char* allowed) {
    if (is_given)
      diagnostics.error(where_of(table, key),
                        fmt::format("model {} has modules that predict further ahead (prediction_depth = {}), "
                                    "allowed: {}",
                                    job.model->name, job.model->prediction_depth, allowed));
  };
  refuse(options.shards_gradients() && !options.streams_weights(), "data_sharding", "data_sharding = \"auto\"");
  refuse(options.streams_weights(), "weight_streaming", "weight_streaming = \"off\"");
  refuse(cut.is_two_dimensional(), "tensor_rows", "tensor_rows = 1");
  refuse(cut.uses_kernels(), "sublayers", "sublayers = \"operators\"");
  refuse(cut.uses_user_buffers(), "user_buffers", "user_buffers = false");
  refuse(cut.shares_sequences(), "context_parallel", "context_parallel = 1");
  if (job.model->hidden % options.tensor != 0)
    diagnostics.error(where_of(table, "tensor"),
                      fmt::format("tensor = {} does not divide hidden = {}, and modules that predict further ahead "
                                  "(prediction_depth) cut it",
                                  options.tensor, job.model->hidden));
}

}  // namespace tessera::strategy::megatron
