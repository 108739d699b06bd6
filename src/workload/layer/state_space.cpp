#include "state_space.hpp"

#include <algorithm>

#include "tessera/base/integers.hpp"

namespace tessera::workload::layer {

Chunks::Chunks(const Context& context) : length(std::min(context.layer.scan_chunk, context.shape.sequence)) {
  const std::int64_t full = context.shape.sequence / length, rest = context.shape.sequence % length;
  const std::int64_t sequences = context.shape.micro_batch;
  count = sequences * (full + (rest > 0 ? 1 : 0));
  square = sequences * (full * length * length + rest * rest);
  causal = (square + sequences * context.shape.sequence) / 2;
}

std::int64_t half_of(const Chunks& chunks) { return (chunks.length + 2) / 2; }

Operator SharedProduct::on(const Context& context) const {
  Operator op = context.gemm(name, batch, m, n, k);
  op.flops = flops;
  op.bytes_read = bytes_read;
  op.bytes_written = bytes_written;
  return op;
}

OperatorSet input_section(const Context& context) {
  OperatorSet set;
  set.whole_input = context.model.hidden;
  set.gathered_element = gathered_element(context);
  const std::int64_t columns = mixer_kind(context.layer.mixer).input_columns(context);
  const Linear linear = context.column_linear("in projection", 1, context.tokens, columns);
  add_linear(context, linear, set);
  if (context.training) keep_input(context, linear, set);
  return set;
}

void add_projection_weights(const Context& context, ParameterShare& share) {
  const std::int64_t columns = mixer_kind(context.layer.mixer).input_columns(context);
  share.sharded += context.model.hidden * (columns + context.output_width);
}

namespace {

Operator convolution(const Context& context, std::int64_t channels, const char* name) {
  const std::int64_t elements = context.tokens * channels;
  return context.stream(OperatorKind::fused, name, elements + convolution_parameters(context.layer, channels),
                        elements);
}

}  // namespace

void add_convolution(const Context& context, std::int64_t channels, OperatorSet& set) {
  Operator op = convolution(context, channels, "convolution");
  if (context.shape.phase == Phase::generation) {
    // The tokens before the new one come from the cache, and move on in it.
    const std::int64_t window = context.shape.micro_batch * channels * context.layer.conv_width * context.element;
    op.bytes_read += window;
    op.bytes_written += window;
  }
  set.forward.push_back(op);
}

Operator convolution_again(const Context& context, std::int64_t channels) {
  return convolution(context, channels, "convolution again");
}

void add_convolution_gradient(const Context& context, std::int64_t channels, OperatorSet& set) {
  const std::int64_t elements = context.tokens * channels;
  const std::int64_t parameters = convolution_parameters(context.layer, channels);
  set.input_gradient.push_back(
      context.stream(OperatorKind::fused, "convolution dgrad", 2 * elements + parameters, elements));
  set.weight_gradient.push_back(context.bias_gradient("convolution wgrad", parameters, parameters));
}

OperatorSet convolution_section(const Context& context, std::int64_t channels) {
  OperatorSet set;
  add_convolution(context, channels, set);
  if (context.training) add_convolution_gradient(context, channels, set);
  return set;
}

std::int64_t convolution_parameters(const LayerFields& kind, std::int64_t channels) {
  return channels * (kind.conv_width + (kind.conv_bias ? 1 : 0));
}

std::int64_t state_elements(const Context& context) { return context.output_width * context.layer.state_size; }

std::int64_t cached_state(const Context& context, std::int64_t channels, std::int64_t state_element) {
  const std::int64_t window = cache_product(context.element, {channels, context.layer.conv_width});
  return window + cache_product(state_element, {state_elements(context)});
}

void add_state_copy(const Context& context, std::int64_t channels, std::int64_t state_element, OperatorSet& set) {
  const std::int64_t sequences = context.shape.micro_batch;
  const std::int64_t window = context.element * channels * context.layer.conv_width, states = state_elements(context);
  set.forward.push_back(streaming(OperatorKind::copy, "state cache", Bytes{sequences * (window + fp32 * states)},
                                  Bytes{sequences * (window + state_element * states)}, context.shape.datatype));
}

Operator state_update(const Context& context, std::int64_t state_element, std::int64_t inputs, std::int64_t outputs) {
  const std::int64_t states = context.shape.micro_batch * state_element * state_elements(context);
  Operator op = context.stream(OperatorKind::fused, "state update", context.tokens * inputs, context.tokens * outputs);
  op.bytes_read += states;
  op.bytes_written += states;
  return op;
}

void add_gated_norm(const Context& context, std::int64_t parameters, OperatorSet& set) {
  const std::int64_t elements = context.tokens * context.output_width;
  set.forward.push_back(context.stream(OperatorKind::norm, "gated norm", 2 * elements, elements));
  if (!context.training) return;
  set.input_gradient.push_back(context.stream(OperatorKind::norm, "gated norm dgrad", 3 * elements, 2 * elements));
  set.weight_gradient.push_back(context.bias_gradient("gated norm wgrad", parameters, parameters));
  set.kept_inside += context.element * elements;  // what it norms; its gate is among the section's input
}

Int128 recurrence_flops(const LayerFields& kind, std::int64_t tokens, std::int64_t operations) {
  return Int128{operations} * tokens * kind.heads * kind.head_dim * kind.state_size;
}

}  // namespace tessera::workload::layer
