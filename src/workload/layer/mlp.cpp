// The dense MLP and the experts of a MoE layer on one rank.
#include <fmt/format.h>

#include <algorithm>

#include "context.hpp"
#include "tessera/base/error.hpp"

namespace tessera::workload::layer {
namespace {

/// Each of them is an operator of its own.
constexpr std::int64_t most_single_experts = 4096;

/// One MLP, or `batch` experts of the same width at once.
struct Mlp {
  std::string prefix;  ///< of the operators' names
  std::int64_t batch = 1;
  std::int64_t rows = 0;        ///< tokens of one expert
  std::int64_t width = 0;       ///< columns on this rank
  std::int64_t input_kept = 0;  ///< rows of the input that are kept, of all experts
};

void add_activation(const Context& context, const Mlp& mlp, OperatorSet& set) {
  const std::int64_t out = mlp.batch * mlp.rows * mlp.width;
  const std::int64_t in = (context.layer.gated_mlp ? 2 : 1) * out;
  const std::int64_t columns = context.model.bias ? mlp.batch * (context.layer.gated_mlp ? 2 : 1) * mlp.width : 0;
  const std::string name = mlp.prefix + (context.layer.gated_mlp ? "gate" : "activation");
  set.forward.push_back(context.stream(OperatorKind::fused, name, in + columns, out));
  if (!context.training) return;
  set.input_gradient.push_back(context.stream(OperatorKind::fused, name + " dgrad", out + in + columns, in));
  if (columns > 0) set.weight_gradient.push_back(context.bias_gradient(name + " bias wgrad", in, columns));
  set.kept_input += context.element * in;
}

/// The gate and what it gates, by two linear layers that read the same input, so that its gradient has two parts.
void add_two_linears(const Context& context, const Mlp& mlp, OperatorSet& set) {
  for (const char* name : {"fc1", "fc1 gate"})
    add_linear(context, context.column_linear(mlp.prefix + name, mlp.batch, mlp.rows, mlp.width), set);
  if (!context.training) return;
  const std::int64_t elements = mlp.batch * mlp.rows * context.model.hidden;
  set.input_gradient.push_back(
      context.stream(OperatorKind::elementwise, mlp.prefix + "fc1 input gradient", 2 * elements, elements));
  set.input_gradients = 2;
}

/// Experts have their tokens gathered apart.
Linear of_mlp(Linear linear, const Mlp& mlp) {
  if (!mlp.prefix.empty()) linear.gathered = Linear::Gathered::nothing;
  return linear;
}

void add_mlp(const Context& context, const Mlp& mlp, LayerOperators& layer) {
  const std::int64_t h = context.model.hidden;
  const std::int64_t columns = (context.layer.gated_mlp ? 2 : 1) * mlp.width;
  if (context.layer.gated_mlp && context.stack.separate_gate && !is_moe(context.layer)) {
    add_two_linears(context, mlp, layer.fc1);
  } else {
    add_linear(context, of_mlp(context.column_linear(mlp.prefix + "fc1", mlp.batch, mlp.rows, columns), mlp),
               layer.fc1);
  }
  add_activation(context, mlp, layer.activation);
  add_linear(context, of_mlp(context.row_linear(mlp.prefix + "fc2", mlp.batch, mlp.rows, mlp.width), mlp), layer.fc2);
  if (!context.training) return;
  layer.fc1.kept_input += kept_operand(context, mlp.input_kept * h);
  layer.fc2.kept_input += kept_operand(context, mlp.batch * mlp.rows * mlp.width);
}

OperatorSet router_section(const Context& context) {
  const std::int64_t experts = context.layer.experts;
  const std::int64_t scores = 4 * context.tokens_cut * experts;  // bytes; the probabilities are FP32
  OperatorSet set;
  add_linear(context,
             {"router", 1, context.tokens_cut, context.model.hidden, experts, Linear::Gathered::nothing, false}, set);
  const std::string& datatype = context.shape.datatype;
  set.forward.push_back(streaming(OperatorKind::softmax, "router softmax", Bytes{scores}, Bytes{scores}, datatype));
  if (!context.training) return set;
  set.input_gradient.insert(set.input_gradient.begin(), streaming(OperatorKind::softmax, "router softmax dgrad",
                                                                  Bytes{2 * scores}, Bytes{scores}, datatype));
  // The product adds the bias.
  if (context.layer.router_bias)
    set.weight_gradient.push_back(context.bias_gradient("router bias wgrad", context.tokens_cut * experts, experts));
  set.kept_input = context.element * context.tokens_cut * context.model.hidden;
  set.kept_inside = scores;
  return set;
}

/// What shared experts make, weighted by a gate of its own where it has one, joins what the others make.
void add_shared_sum(const Context& context, LayerOperators& layer) {
  const std::int64_t h = context.model.hidden, elements = context.tokens_cut * h;
  if (context.layer.shared_gate) {
    add_linear(context, {"shared gate", 1, context.tokens_cut, h, 1, Linear::Gathered::nothing, false}, layer.router);
    layer.combine.forward.push_back(context.stream(OperatorKind::elementwise, "shared scale", elements, elements));
    if (context.training) {
      layer.combine.input_gradient.push_back(
          context.stream(OperatorKind::elementwise, "shared scale dgrad", 2 * elements, elements));
      layer.combine.kept_input += context.element * elements;
    }
  }
  layer.combine.forward.push_back(context.stream(OperatorKind::elementwise, "shared sum", 2 * elements, elements));
}

/// As the experts' operators are made.
LayerShape shape_of_experts(LayerShape shape) {
  if (shape.expert_gradient_bytes > 0) {
    shape.gradient_bytes = shape.expert_gradient_bytes;
    shape.adds_gradients = true;
  }
  return shape;
}

/// Each product of a batch by itself.
void split_products(std::vector<Operator>& operators) {
  std::vector<Operator> single;
  for (Operator op : operators) {
    const std::int64_t batch = op.kind == OperatorKind::gemm ? op.batch : 1;
    for (std::int64_t* total : {&op.flops, &op.bytes_read, &op.bytes_written}) *total /= batch;
    if (batch > 1) op.batch = 1;
    single.insert(single.end(), static_cast<std::size_t>(batch), op);
  }
  operators = std::move(single);
}

void split_products(OperatorSet& set) {
  for (auto* part : {&set.forward, &set.input_gradient, &set.weight_gradient}) split_products(*part);
}

/// Elements of the tokens of this rank, and of their copies, one an expert.
struct Copies {
  explicit Copies(const Context& context)
      : tokens(context.tokens_cut * context.model.hidden), copies(tokens * context.layer.experts_per_token) {}
  std::int64_t tokens;
  std::int64_t copies;
};

/// Experts that no token reaches do nothing; the others take an even share, rounded up.
struct ActiveExperts {
  explicit ActiveExperts(const Context& context)
      : active(std::min(context.local_experts, context.shape.expert_tokens)),
        rows((context.shape.expert_tokens + active - 1) / active) {}
  std::int64_t active;
  std::int64_t rows;  ///< of each
};

OperatorSet dispatch_section(const Context& context) {
  const auto [tokens, copies] = Copies(context);
  OperatorSet set;
  set.forward = {context.stream(OperatorKind::copy, "dispatch", tokens, copies)};
  if (!context.training) return set;
  set.input_gradient = {context.stream(OperatorKind::copy, "dispatch dgrad", copies, tokens)};
  set.kept_inside = 4 * context.tokens_cut * context.layer.experts_per_token;  // where each copy went
  return set;
}

OperatorSet combine_section(const Context& context) {
  const auto [tokens, copies] = Copies(context);
  OperatorSet set;
  set.forward = {context.stream(OperatorKind::copy, "combine", copies, tokens)};
  if (!context.training) return set;
  // The gradient of the weights needs the experts' outputs.
  set.input_gradient = {context.stream(OperatorKind::copy, "combine dgrad", tokens + copies, copies)};
  set.kept_input = context.element * copies;
  return set;
}

}  // namespace

std::int64_t mlp_elements(const Context& context) {
  if (!is_moe(context.layer)) return context.tokens * context.mlp_width;
  const auto [active, rows] = ActiveExperts(context);
  return active * rows * context.expert_width + context.tokens * context.shared_width;
}

void add_dense_mlp(const Context& context, LayerOperators& layer) {
  add_mlp(context, {"", 1, context.tokens, context.mlp_width, context.tokens_cut}, layer);
  layer.fc1.whole_input = layer.fc2.summed_output = context.model.hidden;
  layer.fc1.gathered_element = layer.fc2.gathered_element = gathered_element(context);
}

void add_experts(const Context& context, LayerOperators& layer) {
  const Context experts(context.model, shape_of_experts(context.shape));
  layer.router = router_section(context);
  layer.dispatch = dispatch_section(context);
  layer.combine = combine_section(context);
  const auto [active, rows] = ActiveExperts(context);
  add_mlp(experts, {"expert ", active, rows, experts.expert_width, active * rows}, layer);
  if (context.stack.single_experts) {
    if (active > most_single_experts)
      throw KeyError("workload.expert_products", fmt::format("\"single\" of {} experts on a device, allowed: up to {}",
                                                             active, most_single_experts));
    split_products(layer.fc1);
    split_products(layer.fc2);
  }
  if (context.layer.shared_experts > 0) {
    // Their input is kept already, unless they have a cast of it: it is the router's.
    add_mlp(context, {"shared ", 1, context.tokens, context.shared_width, context.low ? context.tokens_cut : 0}, layer);
    add_shared_sum(context, layer);
  }
}

}  // namespace tessera::workload::layer
