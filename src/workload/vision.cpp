// What a vision tower and its projector compute.
#include "tessera/workload/vision.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "layer/context.hpp"
#include "layer/mixer.hpp"
#include "tessera/base/error.hpp"

namespace tessera::workload {
namespace {

using layer::Context;

/// Numbers of a patch.
std::int64_t patch_numbers(const Vision& vision) { return vision.patch_channels * vision.patch * vision.patch; }

std::int64_t squared(std::int64_t side) { return side * side; }

std::int64_t tiles_of(const Vision& vision, std::int64_t sequences) { return sequences * vision.images * vision.tiles; }

std::int64_t tile_tokens(const Vision& vision) { return patches(vision) / squared(vision.pool * vision.merge); }

/// One kernel each way.
void add_kernel(const Context& context, OperatorKind kind, const std::string& name, std::int64_t read,
                std::int64_t written, OperatorSet& set) {
  set.forward.push_back(context.stream(kind, name, read, written));
  if (context.training) set.put_before_gradient({context.stream(kind, name + " dgrad", written, read)});
}

void add_norm(const Context& context, const std::string& name, OperatorSet& set) {
  OperatorSet norm = layer::norm_section(context, name, context.tokens, false);
  norm.kept_inside = norm.kept_input;
  layer::append(norm, set);
}

/// A convolution whose windows lie side by side: one product of patches and weights.
void add_patch_product(const Vision& vision, const Context& context, OperatorSet& set) {
  const std::int64_t rows = context.shape.micro_batch * patches(vision), h = context.model.hidden;
  OperatorSet product;
  layer::add_linear(context,
                    {"patch embedding", 1, rows, patch_numbers(vision), h, layer::Linear::Gathered::nothing, false},
                    product);
  product.input_gradient.clear();  // pixels have none
  if (context.training) product.kept_inside = context.element * rows * patch_numbers(vision);
  if (vision.patch_bias && context.training)
    product.weight_gradient.push_back(context.bias_gradient("patch embedding bias wgrad", rows * h, h));
  layer::append(product, set);
}

void add_positions(const Context& context, OperatorSet& set) {
  const std::int64_t elements = context.tokens * context.model.hidden;
  const std::int64_t rows = context.shape.sequence * context.model.hidden;
  set.forward.push_back(context.stream(OperatorKind::elementwise, "patch positions", elements + rows, elements));
  if (context.training)
    set.weight_gradient.insert(set.weight_gradient.begin(),
                               context.bias_gradient("patch positions wgrad", elements, rows));
}

}  // namespace

std::int64_t patches(const Vision& vision) {
  return vision.image_height / vision.patch * (vision.image_width / vision.patch);
}

std::int64_t image_tokens(const Vision& vision) { return vision.tiles * tile_tokens(vision) + vision.separators; }

VisionSequences tile_sequences(const Vision& vision, std::int64_t sequences) {
  return {patches(vision) + (vision.class_token ? 1 : 0), tiles_of(vision, sequences)};
}

VisionSequences window_sequences(const Vision& vision, std::int64_t sequences) {
  const std::int64_t tokens = squared(vision.window);
  return {tokens, tiles_of(vision, sequences) * (patches(vision) / tokens)};
}

VisionSequences projected_sequences(const Vision& vision, std::int64_t sequences) {
  return {tile_tokens(vision), tiles_of(vision, sequences)};
}

bool sees_window(const Vision& vision, std::int64_t layer) {
  return vision.window > 0 && std::ranges::find(vision.whole_layers, layer) == vision.whole_layers.end();
}

Model tower_model(const Model& model) {
  const Vision& vision = model.vision;
  Model tower;
  tower.name = "the vision tower of " + model.name;
  tower.family = "vision";
  tower.layers = vision.layers;
  tower.hidden = vision.hidden;
  tower.heads = tower.kv_heads = vision.heads;
  tower.head_dim = vision.hidden / vision.heads;
  tower.ffn_hidden = vision.ffn_hidden;
  tower.gated_mlp = vision.gated_mlp;
  tower.vocabulary = 1;
  tower.position = vision.rotary ? PositionEmbedding::rotary : PositionEmbedding::none;
  tower.norm = vision.norm;
  tower.causal = false;
  tower.bias = vision.bias;
  tower.qkv_bias = vision.qkv_bias;
  tower.dropout = false;
  return tower;
}

OperatorSet patch_operators(const Vision& vision, const Model& tower, const LayerShape& shape) {
  const Context context(tower, shape);
  OperatorSet set;
  add_patch_product(vision, context, set);
  const std::int64_t of_patches = shape.micro_batch * patches(vision) * tower.hidden;
  const std::int64_t elements = context.tokens * tower.hidden;
  if (vision.class_token) add_kernel(context, OperatorKind::copy, "class token", of_patches, elements, set);
  if (vision.position_rows > 0) add_positions(context, set);
  if (vision.input_norm) add_norm(context, "patch norm", set);
  return set;
}

OperatorSet tower_end_operators(const Vision& vision, const Model& tower, const LayerShape& shape) {
  const Context context(tower, shape);
  OperatorSet set;
  const std::int64_t of_patches = shape.micro_batch * patches(vision) * tower.hidden;
  if (vision.final_norm) add_norm(context, "tower norm", set);
  if (vision.class_token) add_kernel(context, OperatorKind::copy, "patches alone", of_patches, of_patches, set);
  if (vision.pool > 1)
    add_kernel(context, OperatorKind::reduction, "patch pooling", of_patches, of_patches / squared(vision.pool), set);
  return set;
}

namespace {

class Projector {
 public:
  Projector(const Model& model, const Model& tower, const LayerShape& shape)
      : model_(model), vision_(model.vision), tower_(tower), context_(tower, shape) {}

  [[nodiscard]] ProjectorOperators operators() const {
    ProjectorOperators all;
    all.joining = joining();
    for (std::size_t i = 0; i < vision_.projector.size(); ++i) all.linears.push_back(linear(i));
    const std::int64_t elements = context_.shape.micro_batch / vision_.tiles * image_tokens(vision_) * model_.hidden;
    add_kernel(context_, OperatorKind::copy, "image tokens", elements, elements, all.placement);
    return all;
  }

 private:
  /// A norm has weights, whose gradients its kernel makes along with that of its input.
  [[nodiscard]] OperatorSet joining() const {
    OperatorSet set;
    if (vision_.projector_norm) {
      Model normed = tower_;
      normed.norm = vision_.projector_norm_kind;
      LayerShape shape = context_.shape;
      shape.sequence *= squared(vision_.merge);
      shape.context = shape.sequence;
      add_norm(Context(normed, shape), "projector norm", set);
    }
    const std::int64_t elements = context_.tokens * width_before(0);
    if (vision_.merge > 1) add_kernel(context_, OperatorKind::copy, "patches side by side", elements, elements, set);
    if (!has_gradient_before()) set.input_gradient.clear();
    return set;
  }

  [[nodiscard]] ProjectorLinear linear(std::size_t i) const {
    ProjectorLinear one;
    const std::int64_t t = context_.shape.tensor, in = width_before(i), out = vision_.projector[i];
    const bool is_last = i + 1 == vision_.projector.size();
    one.is_row = i % 2 == 1;
    const std::int64_t rank_in = one.is_row ? share(in) : in, rank_out = one.is_row ? out : share(out);
    const std::string name = fmt::format("projector {}", i + 1);
    OperatorSet& set = one.product;
    layer::add_linear(context_, {name, 1, context_.tokens, rank_in, rank_out, layer::Linear::Gathered::nothing, false},
                      set);
    (one.is_row ? set.summed_output : set.whole_input) = one.is_row ? out : in;
    if (i == 0 && !has_gradient_before()) {
      set.input_gradient.clear();
      set.summed_gradient = 0;
    }
    if (context_.training) set.kept_input = context_.element * context_.tokens * rank_in;
    const bool is_gathered = is_last && !one.is_row && t > 1;
    if (is_gathered) add_gathering(name, out, set);
    add_activation(name, is_last, is_gathered ? out : rank_out, one.activation);
    return one;
  }

  /// Tensor ranks gather each other's columns, which then lie rank by rank; each takes its own of the gradient.
  void add_gathering(const std::string& name, std::int64_t out, OperatorSet& set) const {
    const std::int64_t all = context_.tokens * out, own = all / context_.shape.tensor;
    set.gather_over_tensor(context_.element * all, context_.element);
    set.forward.push_back(context_.stream(OperatorKind::copy, name + " layout", all, all));
    if (context_.training)
      set.put_before_gradient({context_.stream(OperatorKind::copy, name + " layout dgrad", own, own)});
  }

  void add_activation(const std::string& name, bool is_last, std::int64_t columns, OperatorSet& set) const {
    const std::int64_t elements = context_.tokens * columns, bias = vision_.projector_bias ? columns : 0;
    if (is_last && bias == 0) return;
    const std::string full = name + (is_last ? " bias" : " activation");
    const OperatorKind kind = is_last ? OperatorKind::elementwise : OperatorKind::fused;
    set.forward.push_back(context_.stream(kind, full, elements + bias, elements));
    if (!context_.training) return;
    if (!is_last) {
      set.input_gradient.push_back(context_.stream(kind, full + " dgrad", 2 * elements + bias, elements));
      set.kept_input = context_.element * elements;
    }
    if (bias > 0) set.weight_gradient.push_back(context_.bias_gradient(name + " bias wgrad", elements, columns));
  }

  [[nodiscard]] bool has_gradient_before() const { return !vision_.frozen || vision_.projector_norm; }
  [[nodiscard]] std::int64_t width_before(std::size_t i) const {
    return i == 0 ? tower_.hidden * squared(vision_.merge) : vision_.projector[i - 1];
  }
  [[nodiscard]] std::int64_t share(std::int64_t columns) const {
    if (columns % context_.shape.tensor == 0) return columns / context_.shape.tensor;
    throw InputError(fmt::format("a projector's layer of {} columns is not a multiple of the {} tensor-parallel ranks",
                                 columns, context_.shape.tensor));
  }

  const Model& model_;
  const Vision& vision_;
  const Model& tower_;
  Context context_;
};

std::int64_t norm_parameters(Norm norm, std::int64_t width) { return (norm == Norm::layernorm ? 2 : 1) * width; }

ParameterShare tower_share(const Vision& vision, const Model& tower, const LayerShape& shape) {
  ParameterShare share = layer_parameters(tower, shape);
  share.sharded *= vision.layers;
  share.replicated *= vision.layers;
  const std::int64_t h = vision.hidden;
  share.replicated += (patch_numbers(vision) + (vision.patch_bias ? 1 : 0) + (vision.class_token ? 1 : 0)) * h;
  share.replicated += vision.position_rows * h + vision.unused_parameters;
  const std::int64_t norms = (vision.input_norm ? 1 : 0) + (vision.final_norm ? 1 : 0);
  share.replicated += norms * norm_parameters(vision.norm, h);
  return share;
}

ParameterShare projector_share(const Model& model, const LayerShape& shape) {
  const Vision& vision = model.vision;
  ParameterShare share;
  if (vision.projector_norm) share.replicated += norm_parameters(vision.projector_norm_kind, vision.hidden);
  if (vision.separators > 0) share.replicated += model.hidden;
  std::int64_t in = vision.hidden * squared(vision.merge);
  for (std::size_t i = 0; i < vision.projector.size(); ++i) {
    const std::int64_t out = vision.projector[i];
    share.sharded += in * out / shape.tensor;
    const bool is_cut = i % 2 == 0 && i + 1 < vision.projector.size();
    if (vision.projector_bias) (is_cut ? share.sharded : share.replicated) += is_cut ? out / shape.tensor : out;
    in = out;
  }
  return share;
}

}  // namespace

ProjectorOperators projector_operators(const Model& model, const Model& tower, const LayerShape& shape) {
  return Projector(model, tower, shape).operators();
}

VisionParameters vision_parameters(const Model& model, const Model& tower, const LayerShape& shape) {
  return {tower_share(model.vision, tower, shape), projector_share(model, shape)};
}

namespace {

/// FLOP of the layers that run, for one tile.
Int128 layer_flops(const Vision& vision, const Model& tower) {
  const layer::MixerKind& mixer = layer::mixer_kind(Mixer::attention);
  const Int128 mlp = (vision.gated_mlp ? 3 : 2) * Int128{vision.hidden} * vision.ffn_hidden;
  const VisionSequences whole = tile_sequences(vision, 1);
  Int128 flops = 0;
  for (std::int64_t i = 0; i < vision.layers_run; ++i) {
    const std::int64_t seen = sees_window(vision, i) ? squared(vision.window) : whole.tokens;
    flops += Int128{2} * whole.tokens * (mixer.weights(tower, tower) + mlp);
    flops += whole.tokens / seen * mixer.core_flops(tower, seen, seen, Phase::prompt);
  }
  return flops;
}

}  // namespace

VisionFlops vision_flops(const Model& model) {
  const Vision& vision = model.vision;
  if (!has_vision(model)) return {};
  const Model tower = tower_model(model);
  const Int128 tiles = tiles_of(vision, 1);
  const Int128 embedding = Int128{2} * patches(vision) * patch_numbers(vision) * vision.hidden;
  const Int128 layers = layer_flops(vision, tower);
  Int128 projector = 0, first = 0;
  std::int64_t in = vision.hidden * squared(vision.merge);
  for (const std::int64_t out : vision.projector) {
    const Int128 product = Int128{2} * tile_tokens(vision) * in * out;
    if (projector == 0) first = product;
    projector += product;
    in = out;
  }
  VisionFlops flops{tiles * (embedding + layers + projector), tiles * 2 * projector};
  if (vision.frozen)
    flops.backward -= vision.projector_norm ? 0 : tiles * first;
  else
    flops.backward += tiles * (embedding + 2 * layers);
  return flops;
}

}  // namespace tessera::workload
