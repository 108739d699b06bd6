// Trainable parameters: of one tensor rank, and of the whole model.
#include "layer/context.hpp"
#include "tessera/workload/transformer.hpp"

namespace tessera::workload {
namespace {

std::int64_t norm_parameters(const Model& model) { return (model.norm == Norm::layernorm ? 2 : 1) * model.hidden; }

/// An MLP of that width on this rank: what is cut, biases of its columns included.
std::int64_t mlp_weights(const Model& model, std::int64_t width) {
  const std::int64_t columns = (model.gated_mlp ? 2 : 1) * width;
  return model.hidden * columns + (model.bias ? columns : 0) + width * model.hidden;
}

void add_moe_parameters(const layer::Context& context, ParameterShare& share) {
  const Model& model = context.model;
  const std::int64_t output_bias = model.bias ? model.hidden : 0;
  share.replicated += model.hidden * model.experts;
  share.expert += context.local_experts * (mlp_weights(model, context.expert_width) + output_bias);
  if (model.shared_experts > 0) {
    share.sharded += mlp_weights(model, context.mlp_width * model.shared_experts);
    share.replicated += output_bias;
  }
}

ParameterShare embedding_share(const Model& model, std::int64_t vocabulary_rows) {
  ParameterShare share;
  share.sharded = vocabulary_rows * model.hidden;
  if (model.position == PositionEmbedding::learned) share.replicated += model.max_positions * model.hidden;
  share.replicated += model.token_types * model.hidden;
  if (model.embedding_norm) share.replicated += norm_parameters(model);
  return share;
}

ParameterShare head_share(const Model& model, std::int64_t vocabulary_rows, bool own_weight) {
  ParameterShare share;
  if (own_weight) share.sharded = vocabulary_rows * model.hidden;
  if (model.final_norm) share.replicated += norm_parameters(model);
  if (model.masked_lm_head) {
    share.replicated += model.hidden * model.hidden + model.hidden + norm_parameters(model);
    share.sharded += vocabulary_rows;
  }
  return share;
}

/// Parameters of the model uncut, each MoE layer counted with that many experts.
std::int64_t count(const Model& model, std::int64_t experts) {
  LayerShape shape;
  shape.sequence = 1;
  const std::int64_t dense = layer_parameters(model, shape).total();
  std::int64_t total = embedding_share(model, model.vocabulary).total() +
                       head_share(model, model.vocabulary, !model.tied_embeddings).total() + model.extra_parameters;
  std::int64_t moe = 0;
  if (model.experts > 0) {
    shape.moe = true;
    const ParameterShare share = layer_parameters(model, shape);
    moe = share.total() - share.expert + share.expert / model.experts * experts;
  }
  for (std::int64_t i = 0; i < model.layers; ++i) total += is_moe_layer(model, i) ? moe : dense;
  return total;
}

}  // namespace

ParameterShare layer_parameters(const Model& model, const LayerShape& shape) {
  const layer::Context context(model, shape);
  const std::int64_t h = model.hidden;
  const std::int64_t qkv = context.query_width + 2 * context.kv_width;
  const std::int64_t output_bias = model.bias ? h : 0;
  ParameterShare share;
  share.sharded = h * qkv + (model.qkv_bias ? qkv : 0) + context.query_width * h;
  share.replicated = 2 * norm_parameters(model) + output_bias;
  if (shape.moe) {
    add_moe_parameters(context, share);
  } else {
    share.sharded += mlp_weights(model, context.mlp_width);
    share.replicated += output_bias;
  }
  return share;
}

ParameterShare embedding_parameters(const Model& model, const LayerShape& shape) {
  return embedding_share(model, padded_vocabulary(model, shape.tensor) / shape.tensor);
}

ParameterShare head_parameters(const Model& model, const LayerShape& shape, bool own_weight) {
  return head_share(model, padded_vocabulary(model, shape.tensor) / shape.tensor, own_weight);
}

bool is_moe_layer(const Model& model, std::int64_t layer) {
  return model.experts > 0 && (layer + 1) % model.moe_layer_interval == 0;
}

std::int64_t parameter_count(const Model& model) { return count(model, model.experts); }

std::int64_t active_parameter_count(const Model& model) { return count(model, model.experts_per_token); }

}  // namespace tessera::workload
