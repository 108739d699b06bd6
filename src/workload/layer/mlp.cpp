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
  std::int64_t rows = 0;             ///< tokens of one expert
  std::int64_t width = 0;            ///< columns on this rank
  std::vector<Linear> readers = {};  ///< linear layers of earlier sections that read its input
  bool is_gathered_apart = false;    ///< its products have what they read whole, and sum nothing
};

/// The sections that it fills.
struct MlpSections {
  OperatorSet &fc1, &activation, &fc2;
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

Linear of_mlp(Linear linear, const Mlp& mlp) {
  if (mlp.is_gathered_apart) linear.gathered = Linear::Gathered::nothing;
  return linear;
}

/// The gate and what it gates: one linear layer of twice the width, or two that read the same input.
std::vector<Linear> first_linears(const Context& context, const Mlp& mlp) {
  const auto linear = [&](const char* name, std::int64_t columns, bool shares_input) {
    Linear one = of_mlp(context.column_linear(mlp.prefix + name, mlp.batch, mlp.rows, columns), mlp);
    one.shares_input = shares_input;
    return one;
  };
  const bool is_qkvs_input = context.shares_norm();
  if (context.layer.gated_mlp && context.stack.separate_gate && !is_moe(context.layer))
    return {linear("fc1", mlp.width, is_qkvs_input), linear("fc1 gate", mlp.width, true)};
  return {linear("fc1", (context.layer.gated_mlp ? 2 : 1) * mlp.width, is_qkvs_input)};
}

/// What is kept of its input beside what earlier sections do, whose gradient has a part from each.
void add_first_linears(const Context& context, const Mlp& mlp, OperatorSet& set) {
  const std::vector<Linear> linears = first_linears(context, mlp);
  for (const Linear& linear : linears) add_linear(context, linear, set);
  if (!context.training) return;
  std::vector<Linear> readers = mlp.readers;
  readers.insert(readers.end(), linears.begin(), linears.end());
  set.kept_input += kept_input(context, readers) - kept_input(context, mlp.readers);
  if (context.has_low_products) set.input_to_run_again = input_bytes(context, linears.front());
  if (linears.size() == 1) return;
  const std::int64_t elements = mlp.batch * mlp.rows * context.model.hidden;
  set.input_gradient.push_back(
      context.stream(OperatorKind::elementwise, mlp.prefix + "fc1 input gradient", 2 * elements, elements));
  set.input_gradients = 2;
}

void add_mlp(const Context& context, const Mlp& mlp, const MlpSections& layer) {
  add_first_linears(context, mlp, layer.fc1);
  add_activation(context, mlp, layer.activation);
  const Linear last = of_mlp(context.row_linear(mlp.prefix + "fc2", mlp.batch, mlp.rows, mlp.width), mlp);
  add_linear(context, last, layer.fc2);
  if (context.training) keep_input(context, last, layer.fc2);
}

Linear router_linear(const Context& context) {
  return {"router", 1, context.tokens_cut, context.model.hidden, context.layer.experts, Linear::Gathered::nothing,
          false};
}

OperatorSet router_section(const Context& context) {
  const std::int64_t experts = context.layer.experts;
  const std::int64_t scores = 4 * context.tokens_cut * experts;  // bytes; the probabilities are FP32
  OperatorSet set;
  const Linear linear = router_linear(context);
  add_linear(context, linear, set);
  const std::string& datatype = context.shape.datatype;
  set.forward.push_back(streaming(OperatorKind::softmax, "router softmax", Bytes{scores}, Bytes{scores}, datatype));
  if (!context.training) return set;
  set.input_gradient.insert(set.input_gradient.begin(), streaming(OperatorKind::softmax, "router softmax dgrad",
                                                                  Bytes{2 * scores}, Bytes{scores}, datatype));
  // The product adds the bias.
  if (context.layer.router_bias)
    set.weight_gradient.push_back(context.bias_gradient("router bias wgrad", context.tokens_cut * experts, experts));
  set.kept_input = kept_input(context, {linear});
  set.kept_inside = scores;
  return set;
}

/// Where the operators of shared experts go.
struct SharedSections {
  OperatorSet& gate;
  MlpSections mlp;
  OperatorSet &scale, &sum;
};

/// What shared experts make, weighted by a gate of its own where it has one, joins what the others make.
void add_shared_sum(const Context& context, const SharedSections& into) {
  const std::int64_t h = context.model.hidden, elements = context.tokens_cut * h;
  if (context.layer.shared_gate) {
    add_linear(context, {"shared gate", 1, context.tokens_cut, h, 1, Linear::Gathered::nothing, false}, into.gate);
    into.scale.forward.push_back(context.stream(OperatorKind::elementwise, "shared scale", elements, elements));
    if (context.training) {
      into.scale.input_gradient.push_back(
          context.stream(OperatorKind::elementwise, "shared scale dgrad", 2 * elements, elements));
      into.scale.kept_input += context.element * elements;
    }
  }
  into.sum.forward.push_back(context.stream(OperatorKind::elementwise, "shared sum", 2 * elements, elements));
}

/// Beside the others its input is another tensor than that of the router where that is gathered (Megatron core,
/// shared_experts.py, which hands its linear layers what it has gathered).
void add_shared(const Context& context, const SharedSections& into) {
  Mlp mlp{"shared ", 1, context.tokens, context.shared_width, {}, context.shape.shared_beside};
  const bool is_copy = mlp.is_gathered_apart && context.shape.sequence_parallel && context.shape.tensor > 1;
  if (!is_copy) mlp.readers = {router_linear(context)};
  add_mlp(context, mlp, into.mlp);
  if (!mlp.is_gathered_apart) into.mlp.fc1.gathered_element = into.mlp.fc2.gathered_element = gathered_element(context);
  add_shared_sum(context, into);
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
    for (std::int64_t* total : {&op.flops, &op.bytes_read, &op.bytes_written, &op.scale_bytes}) *total /= batch;
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
  const std::int64_t routed = active * rows * context.expert_width, shared = context.tokens * context.shared_width;
  return (context.experts != Experts::shared ? routed : 0) + (context.experts != Experts::routed ? shared : 0);
}

void add_dense_mlp(const Context& context, LayerOperators& layer) {
  Mlp mlp{"", 1, context.tokens, context.mlp_width};
  if (context.shares_norm()) mlp.readers = {qkv_linear(context)};
  add_mlp(context, mlp, {layer.fc1, layer.activation, layer.fc2});
  layer.fc1.whole_input = layer.fc2.summed_output = context.model.hidden;
  layer.fc1.gathered_element = layer.fc2.gathered_element = gathered_element(context);
}

void add_routed(const Context& context, LayerOperators& layer) {
  const Context experts(context.model, shape_of_experts(context.shape));
  layer.router = router_section(context);
  layer.dispatch = dispatch_section(context);
  layer.combine = combine_section(context);
  const auto [active, rows] = ActiveExperts(context);
  add_mlp(experts, {"expert ", active, rows, experts.expert_width, {}, true}, {layer.fc1, layer.activation, layer.fc2});
  if (context.stack.single_experts) {
    if (active > most_single_experts)
      throw KeyError("workload.expert_products", fmt::format("\"single\" of {} experts on a device, allowed: up to {}",
                                                             active, most_single_experts));
    split_products(layer.fc1);
    split_products(layer.fc2);
  }
}

void add_experts(const Context& context, LayerOperators& layer) {
  add_routed(context, layer);
  if (context.layer.shared_experts == 0) return;
  add_shared(context, {layer.router, {layer.fc1, layer.activation, layer.fc2}, layer.combine, layer.combine});
}

void add_shared_experts(const Context& context, SharedExperts& shared) {
  add_shared(context, {shared.gate, {shared.fc1, shared.activation, shared.fc2}, shared.scale, shared.sum});
}

}  // namespace tessera::workload::layer
