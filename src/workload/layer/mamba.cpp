// Mamba (Gu and Dao 2023, arXiv 2312.00752) on one tensor rank: each channel has a state of N elements of its own, and
// all channels of a token share what writes states (B) and what reads them (C).
//
// B, C and the `step_rank` elements that the steps of all channels are made from come from the convolved channels by a
// linear layer (section 3.5 and algorithm 2), a row-parallel one: tensor ranks sum it, forward, and backward the
// gradient of its output, amid the section (vLLM, model_executor/layers/mamba/mamba_mixer.py). Norms of the three stand
// behind it in Jamba (Lieber et al. 2024, arXiv 2403.19887; transformers, models/jamba/modeling_jamba.py), so that the
// kernels are apart: convolution, both products, and selective_scan of mamba-ssm, which applies the gate, and keeps its
// inputs, its output before the gate, and in FP32 two numbers for each element of the state every 2048 tokens.
#include "state_space.hpp"
#include "tessera/base/integers.hpp"

namespace tessera::workload::layer {
namespace mamba {
namespace {

constexpr std::int64_t scan_chunk = 2048;  // tokens (csrc/selective_scan/selective_scan.cpp)

std::int64_t channels(const Context& context) { return context.output_width; }
/// Of what channels and a gate beside them are made.
std::int64_t columns(const Context& context) { return 2 * channels(context); }
/// What all channels share of a token.
std::int64_t shared(const LayerFields& kind) { return kind.step_rank + 2 * kind.state_size; }
/// Of the scan: a decay for each element of a state, a skip and the bias of its step for each channel.
std::int64_t scan_parameters(const Context& context) { return channels(context) * (context.layer.state_size + 2); }

/// Small, and in the datatype of activations: precision speaks of the linear layers around the mixer.
OperatorSet product(const Context& context, const std::string& name, std::int64_t in, std::int64_t out) {
  OperatorSet set;
  add_linear(context, {name, 1, context.tokens, in, out, Linear::Gathered::nothing, false}, set);
  if (context.training) set.kept_inside = context.element * context.tokens * in;
  return set;
}

OperatorSet norms(const Context& context) {
  OperatorSet set;
  if (!context.layer.state_norms) return set;
  const std::int64_t state = context.layer.state_size;
  for (const auto& [name, width] : {std::pair{std::string("step norm"), context.layer.step_rank},
                                    std::pair{std::string("B norm"), state}, std::pair{std::string("C norm"), state}}) {
    const std::int64_t elements = context.tokens * width, parameters = norm_vectors(context.model) * width;
    set.forward.push_back(context.stream(OperatorKind::norm, name, elements, elements));
    if (!context.training) continue;
    set.input_gradient.push_back(context.stream(OperatorKind::norm, name + " dgrad", 2 * elements, elements));
    set.weight_gradient.push_back(context.bias_gradient(name + " wgrad", parameters, parameters));
    set.kept_inside += context.element * elements;
  }
  return set;
}

OperatorSet scan(const Context& context) {
  const std::int64_t elements = context.tokens * channels(context);
  const std::int64_t written = context.element * context.tokens * 2 * context.layer.state_size;  // B and C
  const std::int64_t states = context.shape.micro_batch * ceil_div(context.shape.sequence, scan_chunk) *
                              channels(context) * 2 * context.layer.state_size * fp32;
  const std::int64_t weights = fp32 * scan_parameters(context);
  OperatorSet set;
  // Channels, steps and gates; outputs before the gate and behind it.
  Operator forward = context.stream(OperatorKind::fused, "selective scan", 3 * elements, 2 * elements);
  forward.bytes_read += written + weights;
  forward.bytes_written += states;
  set.forward.push_back(forward);
  if (!context.training) return set;
  // The same, the outputs and their gradient; gradients of the three, and in FP32 of B and C.
  Operator backward = context.stream(OperatorKind::fused, "selective scan dgrad", 5 * elements, 3 * elements);
  backward.bytes_read += written + weights + states;
  backward.bytes_written += fp32 * context.tokens * 2 * context.layer.state_size;
  set.input_gradient.push_back(backward);
  const std::int64_t parameters = scan_parameters(context);
  set.weight_gradient.push_back(context.bias_gradient("selective scan wgrad", parameters, parameters));
  set.kept_inside = context.element * 2 * elements + written + states;  // steps, outputs
  return set;
}

OperatorSet step(const Context& context) {
  const std::int64_t inputs = 3 * channels(context) + 2 * context.layer.state_size;
  OperatorSet set;
  set.forward.push_back(state_update(context, context.element, inputs, channels(context)));
  return set;
}

/// Without norms one function of mamba-ssm has it all (mamba_inner_fn, its first level of checkpoints): the convolved
/// channels and the steps are not kept, and the backward pass begins with them.
void make_again(const Context& context, OperatorSet& set) {
  set.put_before_gradient(
      {convolution_again(context, channels(context)),
       context.gemm("step projection again", 1, context.tokens, channels(context), context.layer.step_rank)});
  set.kept_inside -= 2 * context.element * context.tokens * channels(context);
}

OperatorSet core(const Context& context) {
  const LayerFields& layer = context.layer;
  const bool is_step = context.shape.phase == Phase::generation;
  OperatorSet set = convolution_section(context, channels(context));
  if (context.training) {  // channels go into the scan too
    const std::int64_t elements = context.tokens * channels(context);
    set.put_before_gradient(
        {context.stream(OperatorKind::elementwise, "channel gradient sum", 2 * elements, elements)});
  }
  append(product(context, "x projection", channels(context), shared(layer)), set);
  const std::int64_t sum = context.element * context.tokens * shared(layer);
  if (context.shape.tensor > 1) set.sum_over_tensor(sum, context.element);
  append(norms(context), set);
  OperatorSet behind = product(context, "step projection", layer.step_rank, channels(context));
  append(is_step ? step(context) : scan(context), behind);
  if (context.training && context.shape.tensor > 1) set.sum_gradient_over_tensor(sum, context.element);
  append(behind, set);
  if (context.training && !layer.state_norms) make_again(context, set);
  if (context.shape.phase == Phase::prompt) add_state_copy(context, channels(context), context.element, set);
  if (context.training) set.kept_input = context.element * context.tokens * columns(context);
  return set;
}

void add_parameters(const Context& context, ParameterShare& share) {
  add_projection_weights(context, share);
  const LayerFields& layer = context.layer;
  share.sharded += convolution_parameters(layer, channels(context)) +
                   channels(context) * (shared(layer) + layer.step_rank) + scan_parameters(context);
  if (layer.state_norms) share.replicated += norm_vectors(context.model) * shared(layer);
}

std::int64_t cached_bytes(const Context& context) { return cached_state(context, channels(context), context.element); }

Int128 weights(const Model& model, const LayerFields& kind) {
  const Int128 inner = kind.heads * kind.head_dim;
  return inner * (3 * model.hidden + shared(kind) + kind.step_rank);
}

/// An element of the state is written and read (equation 2).
Int128 core_flops(const LayerFields& kind, std::int64_t sequence, std::int64_t, Phase) {
  return recurrence_flops(kind, sequence, 4);
}

}  // namespace
}  // namespace mamba

MixerKind mamba_mixer() {
  using namespace mamba;
  return {.mixer = Mixer::mamba,
          .key = "mamba",
          .words = "Mamba",
          .needs = {{"state_size", &LayerFields::state_size},
                    {"conv_width", &LayerFields::conv_width},
                    {"step_rank", &LayerFields::step_rank}},
          .input_columns = columns,
          .input = input_section,
          .core = core,
          .output = projection_section,
          .add_parameters = add_parameters,
          .add_products = add_projection_weights,
          .cached_bytes = cached_bytes,
          .weights = weights,
          .core_flops = core_flops};
}

}  // namespace tessera::workload::layer
