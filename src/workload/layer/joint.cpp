// Layers of two streams (MM-DiT: Esser et al. 2024, arXiv 2403.03206, figure 2) as diffusers has them
// (JointTransformerBlock, models/attention.py): each stream has projections, an MLP and a modulation of its own, and
// attention is over the tokens of both. Tensor ranks have heads and columns of the MLP of both streams.
#include "joint.hpp"

#include "mixer.hpp"
#include "tessera/base/integers.hpp"

namespace tessera::workload::layer {
namespace {

/// Shift, scale and gate of attention and of the MLP; of a stream that ends shift and scale of its one norm.
constexpr std::int64_t going_on = 6, ending = 2;

/// Columns of the linear layer that makes shifts, scales and gates of a stream.
std::int64_t modulation_columns(const Model& model, bool goes_on) {
  return (goes_on ? going_on : ending) * model.hidden;
}

/// Puts what one stream runs in a section behind what others do; a section whose tokens tensor ranks exchange moves
/// those of all streams at once.
void put_beside(const std::string& prefix, OperatorSet one, OperatorSet& all) {
  for (std::vector<Operator> OperatorSet::*part :
       {&OperatorSet::forward, &OperatorSet::input_gradient, &OperatorSet::weight_gradient}) {
    for (Operator& op : one.*part) op.name = prefix + op.name;
    (all.*part).insert((all.*part).end(), (one.*part).begin(), (one.*part).end());
  }
  all.kept_input += one.kept_input;
  all.kept_inside += one.kept_inside;
  if (one.input_to_run_again >= 0)
    all.input_to_run_again = std::max<std::int64_t>(0, all.input_to_run_again) + one.input_to_run_again;
  all.input_gradients = one.input_gradients;
  all.whole_input = one.whole_input;
  all.summed_output = one.summed_output;
  all.gathered_element = one.gathered_element;
}

/// What attention or MLP made, times a gate of each sample, joins the residual. The gate's gradient needs it.
OperatorSet gated_residual(const Context& context, const std::string& name, bool has_bias) {
  const std::int64_t h = context.model.hidden, elements = context.tokens_cut * h;
  const std::int64_t gates = context.shape.micro_batch * h, bias = has_bias ? h : 0;
  const std::string residual = name + " gate and residual";
  OperatorSet set;
  set.forward = {context.stream(OperatorKind::fused, residual, 2 * elements + gates + bias, elements)};
  if (!context.training) return set;
  set.input_gradient = {
      context.stream(OperatorKind::fused, residual + " dgrad", 2 * elements + gates, elements + gates)};
  if (has_bias) set.weight_gradient = {context.bias_gradient(residual + " wgrad", elements, h)};
  set.kept_input = context.element * elements;
  return set;
}

/// The tokens of both streams side by side; gradients of each stream are parts of what attention makes of them.
OperatorSet joint_core(const Context& joint) {
  OperatorSet set = core_section(joint);
  const std::int64_t elements = joint.tokens * joint.qkv_width();
  set.forward.insert(set.forward.begin(), joint.stream(OperatorKind::copy, "joint tokens", elements, elements));
  return set;
}

void add_behind_attention(const Stream& one, LayerOperators& layer) {
  const Context& context = one.context;
  const auto put = [&](OperatorSet set, OperatorSet& into) { put_beside(one.prefix, std::move(set), into); };
  put(projection_section(context), layer.projection);
  put(gated_residual(context, "attention", has_projection_bias(context.model)), layer.attention_residual);
  put(modulated_norm(context, "mlp norm", true), layer.mlp_norm);
  LayerOperators mlp;
  add_dense_mlp(context, mlp);
  put(mlp.fc1, layer.fc1);
  put(mlp.activation, layer.activation);
  put(mlp.fc2, layer.fc2);
  put(gated_residual(context, "mlp", context.model.bias), layer.mlp_residual);
}

/// A layer in which the text ends moves the image's tokens alone.
void shorten_exchanges(const Context& joint, std::int64_t image, LayerOperators& layer) {
  const std::int64_t all = joint.shape.sequence;
  for (std::int64_t* width : {&layer.projection.summed_output, &layer.fc1.whole_input, &layer.fc2.summed_output})
    *width = ceil_div(*width * image, all);
}

}  // namespace

std::vector<Stream> streams_of(const Context& joint) {
  LayerShape shape = joint.shape;
  shape.context = 0;
  shape.sequence = patches_of(joint.model, joint.shape.sequence);
  std::vector<Stream> streams{{"", Context(joint.model, shape)}};
  shape.sequence = joint.model.diffusion.text_tokens;
  streams.push_back({"text ", Context(joint.model, shape), !joint.layer.text_ends});
  return streams;
}

std::int64_t modulation_share(const Context& context, std::int64_t columns) {
  return ceil_div(columns, context.shape.tensor);
}

OperatorSet modulated_norm(const Context& context, const std::string& name, bool residual) {
  const std::int64_t h = context.model.hidden, elements = context.tokens_cut * h;
  const std::int64_t vectors = 2 * context.shape.micro_batch * h;
  OperatorSet set;
  set.forward = {context.stream(OperatorKind::norm, name, elements, elements),
                 context.stream(OperatorKind::fused, name + " modulation", elements + vectors, elements)};
  if (!context.training) return set;
  set.input_gradient = {
      context.stream(OperatorKind::fused, name + " modulation dgrad", 2 * elements + vectors, elements + vectors),
      context.stream(OperatorKind::norm, name + " dgrad", 2 * elements, elements)};
  if (residual)
    set.input_gradient.push_back(
        context.stream(OperatorKind::elementwise, name + " residual gradient", 2 * elements, elements));
  set.kept_input = context.element * elements;
  set.kept_inside = context.element * elements;  // the norm's output, for the gradient of its scale
  return set;
}

// As Megatron-LM's users have it in NeMo (AdaLN, a ColumnParallelLinear with gather_output). Ranks with tokens of their
// own sum what these say of shifts, scales and gates; all sum their parts of the gradient of the sample's vector.
void put_modulation_before(const Context& context, const std::vector<std::pair<std::string, std::int64_t>>& columns,
                           OperatorSet& section) {
  const std::int64_t h = context.model.hidden, rows = context.shape.micro_batch, t = context.shape.tensor;
  OperatorSet set;
  set.forward = {context.stream(OperatorKind::fused, "conditioning silu", rows * h, rows * h)};
  std::int64_t all = 0;
  for (const auto& [name, width] : columns) {
    const std::int64_t own = modulation_share(context, width);
    add_linear(context, {name, 1, rows, h, own, Linear::Gathered::nothing, false}, set);
    if (context.training) set.weight_gradient.push_back(context.bias_gradient(name + " bias wgrad", rows * own, own));
    all += own * t;
  }
  if (t > 1) set.gather_over_tensor(context.element * rows * all, context.element);
  if (context.training) {
    if (t > 1 && context.shape.sequence_parallel)
      set.sum_gradient_over_tensor(context.element * rows * all, context.element);
    const std::size_t behind = set.input_gradient.size();
    if (t > 1)
      set.gradient_exchange_steps.push_back(
          {ExchangeStep::Kind::tensor_sum, context.element * rows * h, behind, behind, context.element});
    set.kept_inside = context.element * rows * (h + all);  // what it reads, and what it makes
  }
  set.forward.insert(set.forward.end(), section.forward.begin(), section.forward.end());
  set.put_before_gradient(section.input_gradient);
  set.weight_gradient.insert(set.weight_gradient.begin(), section.weight_gradient.begin(),
                             section.weight_gradient.end());
  set.kept_inside += section.kept_inside;
  set.kept_input = section.kept_input;
  section = set;
}

LayerOperators joint_layer(const Context& joint) {
  const std::vector<Stream> streams = streams_of(joint);
  LayerOperators layer;
  std::vector<std::pair<std::string, std::int64_t>> columns;
  for (const Stream& one : streams) {
    put_beside(one.prefix, modulated_norm(one.context, "attention norm", one.goes_on), layer.attention_norm);
    put_beside(one.prefix, qkv_section(one.context), layer.qkv);
    columns.emplace_back(one.prefix + "modulation", modulation_columns(joint.model, one.goes_on));
  }
  put_modulation_before(joint, columns, layer.attention_norm);
  layer.attention_core = joint_core(joint);
  for (const Stream& one : streams)
    if (one.goes_on) add_behind_attention(one, layer);
  if (joint.layer.text_ends) shorten_exchanges(joint, streams.front().context.shape.sequence, layer);
  return layer;
}

// Both streams have the same sizes. A rank's share does not depend on tokens.
ParameterShare joint_products(const Context& joint) {
  const std::int64_t h = joint.model.hidden, streams = joint.layer.text_ends ? 1 : 2;
  ParameterShare one;
  mixer_kind(Mixer::attention).add_products(joint, one);
  ParameterShare all;
  all.sharded = 2 * one.sharded + streams * (joint.layer.gated_mlp ? 3 : 2) * h * joint.mlp_width;
  if (joint.layer.text_ends) all.sharded -= joint.output_width * h;
  return all;
}

ParameterShare joint_parameters(const Context& joint) {
  const std::int64_t h = joint.model.hidden, sides = joint.layer.gated_mlp ? 2 : 1;
  const bool ends = joint.layer.text_ends;
  const std::int64_t streams = ends ? 1 : 2;
  ParameterShare one;
  mixer_kind(Mixer::attention).add_parameters(joint, one);
  ParameterShare all{2 * one.sharded, 2 * one.replicated, 2 * one.partial};
  if (ends) {
    all.sharded -= joint.output_width * h;
    all.replicated -= has_projection_bias(joint.model) ? h : 0;
  }
  all.sharded += streams * ((sides + 1) * h + (joint.model.bias ? sides : 0)) * joint.mlp_width;
  all.replicated += joint.model.bias ? streams * h : 0;
  for (const bool goes_on : {true, !ends})
    all.sharded += (h + 1) * modulation_share(joint, modulation_columns(joint.model, goes_on));
  return all;
}

Int128 joint_weights(const Model& model, const LayerFields& kind, std::int64_t sequence) {
  const Int128 h = model.hidden, text = model.diffusion.text_tokens, image = sequence - model.diffusion.text_tokens;
  const Int128 attention = mixer_kind(Mixer::attention).weights(model, kind);
  const Int128 output = kind.heads * value_dim(kind) * h;
  const Int128 mlp = (kind.gated_mlp ? 3 : 2) * h * kind.ffn_hidden;
  const Int128 of_text = kind.text_ends ? attention - output : attention + mlp;
  const Int128 modulation = (going_on + (kind.text_ends ? ending : going_on)) * h * h;
  return image * (attention + mlp) + text * of_text + modulation;
}

}  // namespace tessera::workload::layer
