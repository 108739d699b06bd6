// Attention and MLP side by side: both read the layer's input, and tensor ranks sum what both make once.
#include "context.hpp"

namespace tessera::workload::layer {
namespace {

/// Both read one norm: attention's linear has it whole, and sums both gradients before tensor ranks do. The backward
/// pass comes to the MLP first, where it is gathered again.
void share_input(const Context& context, LayerOperators& layer) {
  const std::int64_t elements = context.tokens * context.model.hidden;
  layer.qkv.gathered_again = layer.fc1.summed_gradient = 0;
  layer.fc1.gathered_again = layer.fc1.whole_input;
  layer.qkv.summed_gradient = layer.qkv.whole_input;
  layer.fc1.whole_input = 0;
  layer.fc1.shares_input = true;
  if (!context.training) return;
  layer.qkv.input_gradient.push_back(
      context.stream(OperatorKind::elementwise, "parallel input gradient", 2 * elements, elements));
}

}  // namespace

void join_parallel(const Context& context, LayerOperators& layer) {
  if (context.shares_norm()) {
    share_input(context, layer);
  } else {
    layer.mlp_norm = input_norm_section(context, "mlp norm");
    layer.mlp_norm.kept_input = 0;  // it is that of attention's norm
  }
  const std::int64_t elements = context.tokens * context.model.hidden;
  layer.projection.summed_output = 0;
  layer.fc2.forward.push_back(context.stream(OperatorKind::elementwise, "parallel sum", 2 * elements, elements));
  const std::int64_t biases = (has_projection_bias(context.model) ? 1 : 0) + (context.model.bias ? 1 : 0);
  layer.mlp_residual = residual_section(context, "mlp", biases);
}

}  // namespace tessera::workload::layer
