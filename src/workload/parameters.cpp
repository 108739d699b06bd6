// Trainable parameters: of one tensor rank, and of the whole model.
#include "diffusion.hpp"
#include "layer/joint.hpp"
#include "layer/mixer.hpp"
#include "tessera/workload/vision.hpp"

namespace tessera::workload {
namespace {

std::int64_t norm_parameters(const Model& model) { return norm_vectors(model) * model.hidden; }

/// An MLP of that width on this rank: what is cut, biases of its columns included.
std::int64_t mlp_weights(const layer::Context& context, std::int64_t width) {
  const Model& model = context.model;
  const std::int64_t columns = (context.layer.gated_mlp ? 2 : 1) * width;
  return model.hidden * columns + (model.bias ? columns : 0) + width * model.hidden;
}

void add_moe_parameters(const layer::Context& context, ParameterShare& share) {
  const Model& model = context.model;
  const std::int64_t output_bias = model.bias ? model.hidden : 0;
  share.replicated += (model.hidden + (context.layer.router_bias ? 1 : 0)) * context.layer.experts;
  share.expert += context.local_experts * (mlp_weights(context, context.expert_width) + output_bias);
  if (context.layer.shared_experts > 0) {
    share.sharded += mlp_weights(context, context.shared_width);
    share.replicated += output_bias + (context.layer.shared_gate ? model.hidden : 0);
  }
}

ParameterShare embedding_share(const Model& model, std::int64_t vocabulary_rows) {
  ParameterShare share;
  if (is_diffusion(model)) share.replicated = diffusion_embedding_parameters(model);
  share.sharded = vocabulary_rows * model.hidden;
  if (model.position == PositionEmbedding::learned) share.replicated += model.max_positions * model.hidden;
  share.replicated += model.token_types * model.hidden;
  if (model.embedding_norm) share.replicated += norm_parameters(model);
  return share;
}

/// `tensor`: ranks over which it is cut.
ParameterShare head_share(const Model& model, std::int64_t tensor, std::int64_t vocabulary_rows, bool own_weight) {
  ParameterShare share;
  if (is_diffusion(model)) share = diffusion_head_parameters(model, tensor);
  if (own_weight) share.sharded += vocabulary_rows * model.hidden;
  if (model.final_norm) share.replicated += norm_parameters(model);
  if (model.masked_lm_head) {
    share.replicated += model.hidden * model.hidden + model.hidden + norm_parameters(model);
    share.sharded += vocabulary_rows;
  }
  return share;
}

/// Weights of a module's product on this rank.
std::int64_t prediction_weights(const Model& model, std::int64_t tensor) {
  return 2 * model.hidden * (model.hidden / tensor);
}

/// Of a module that predicts, but for its layer: norms of its two inputs, what makes one of them, and a final norm.
ParameterShare around_prediction(const Model& model, std::int64_t tensor) {
  ParameterShare share;
  share.replicated = (model.final_norm ? 3 : 2) * norm_parameters(model);
  share.sharded = prediction_weights(model, tensor);
  return share;
}

void add(const ParameterShare& more, ParameterShare& share) {
  share.sharded += more.sharded;
  share.replicated += more.replicated;
  share.partial += more.partial;
  share.expert += more.expert;
}

/// Of tower and projector, uncut.
std::int64_t tower_count(const Model& model) {
  if (!has_vision(model)) return 0;
  LayerShape shape;
  shape.sequence = 1;
  return vision_parameters(model, tower_model(model), shape).total();
}

/// Parameters of the model uncut; `active`: of its experts those that a token takes alone.
std::int64_t count(const Model& model, bool active) {
  std::int64_t total = embedding_share(model, model.vocabulary).total() +
                       head_share(model, 1, model.vocabulary, !model.tied_embeddings).total() + model.extra_parameters;
  std::vector<std::int64_t> of_kind;
  for (std::uint32_t i = 0; i < layer_kinds(model); ++i) {
    LayerShape shape;
    shape.sequence = 1;
    shape.kind = i;
    const LayerFields& kind = layer_kind(model, i);
    const ParameterShare share = layer_parameters(model, shape);
    const std::int64_t experts = is_moe(kind) && active ? kind.experts_per_token : kind.experts;
    of_kind.push_back(share.total() - share.expert + (is_moe(kind) ? share.expert / kind.experts * experts : 0));
  }
  total += model.prediction_depth * (of_kind[prediction_kind(model)] + around_prediction(model, 1).total());
  for (std::int64_t i = 0; i < model.layers; ++i) total += of_kind[kind_of(model, i)];
  return total + tower_count(model);
}

}  // namespace

ParameterShare layer_parameters(const Model& model, const LayerShape& shape) {
  const layer::Context context(model, shape);
  if (is_diffusion(model)) return layer::joint_parameters(context);
  ParameterShare share;
  share.replicated = norms_of(context.layer) * norm_parameters(model);
  layer::mixer_kind(context.layer.mixer).add_parameters(context, share);
  if (!context.layer.mlp) return share;
  if (is_moe(context.layer)) {
    add_moe_parameters(context, share);
  } else {
    share.sharded += mlp_weights(context, context.mlp_width);
    share.replicated += model.bias ? model.hidden : 0;
  }
  return share;
}

ParameterShare product_weights(const Model& model, const LayerShape& shape) {
  const layer::Context context(model, shape);
  if (is_diffusion(model)) return layer::joint_products(context);
  const std::int64_t mlp = model.hidden * (context.layer.gated_mlp ? 3 : 2);  // for each column
  const LayerFields& layer = context.layer;
  ParameterShare share;
  layer::mixer_kind(layer.mixer).add_products(context, share);
  if (!layer.mlp) return share;
  if (!is_moe(context.layer)) {
    share.sharded += mlp * context.mlp_width;
    return share;
  }
  share.expert = context.local_experts * mlp * context.expert_width;
  if (layer.shared_experts > 0) share.sharded += mlp * context.shared_width;
  return share;
}

ParameterShare prediction_parameters(const Model& model, LayerShape shape) {
  shape.kind = prediction_kind(model);
  ParameterShare share = layer_parameters(model, shape);
  add(around_prediction(model, shape.tensor), share);
  return share;
}

ParameterShare prediction_products(const Model& model, LayerShape shape) {
  shape.kind = prediction_kind(model);
  ParameterShare share = product_weights(model, shape);
  share.sharded += prediction_weights(model, shape.tensor);
  return share;
}

ParameterShare embedding_parameters(const Model& model, const LayerShape& shape) {
  return embedding_share(model, padded_vocabulary(model, shape.tensor) / shape.tensor);
}

ParameterShare head_parameters(const Model& model, const LayerShape& shape, bool own_weight) {
  return head_share(model, shape.tensor, padded_vocabulary(model, shape.tensor) / shape.tensor, own_weight);
}

std::int64_t parameter_count(const Model& model) { return count(model, false); }

std::int64_t active_parameter_count(const Model& model) { return count(model, true); }

}  // namespace tessera::workload
