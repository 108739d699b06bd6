// Linear layers: their products, and where operands have fewer bits than activations, what casts them.
//
// Products of FP8 on Hopper take their operands with the summed dimension in a row, so that in training each of the
// three tensors is there twice, as it is and transposed: the input for the forward product and the weight gradient, the
// output's gradient for both gradients, the weight for forward product and input gradient (NVIDIA, Transformer Engine
// 1.13, transformer_engine/pytorch/module/linear.py). One kernel makes both; of a tensor that is there twice, gathered
// each time, one kernel makes the first and another one the second.
#include <algorithm>

#include "context.hpp"

namespace tessera::workload::layer {
namespace {

std::int64_t weights_of(const Linear& linear) { return linear.batch * linear.in * linear.out; }

bool has_low_operands(const Context& context, const Linear& linear) {
  return context.has_low_products && linear.is_in_layer;
}

bool is_gathered(const Context& context, const Linear& linear, Linear::Gathered what) {
  return context.shape.sequence_parallel && context.shape.tensor > 1 && linear.gathered == what;
}

/// The product is added to the gradient buffer where it stands, read and written in that buffer's precision, or by
/// another kernel behind it.
void add_weight_gradient(const Context& context, const Linear& linear, Operator product, OperatorSet& set) {
  const std::int64_t gradients = context.shape.gradient_bytes * weights_of(linear);
  const bool is_fused = context.shape.fused_accumulation;
  if (is_fused && context.shape.adds_gradients) product.bytes_read += gradients;
  product.bytes_written = is_fused ? gradients : context.element * weights_of(linear);
  set.weight_gradient.push_back(product);
  if (!is_fused) context.add_accumulation(linear.name, weights_of(linear), set);
}

class LowLinear {
 public:
  LowLinear(const Context& context, const Linear& linear) : context_(context), linear_(linear) {}

  void add(OperatorSet& set) const {
    add_forward(set);
    if (!context_.training) return;
    add_input_gradient(set);
    if (is_gradient_gathered()) set.weight_gradient.push_back(second(" gradient transpose", output()));
    if (is_gathered(Linear::Gathered::input) && !has_others_cast())
      set.weight_gradient.push_back(second(" transpose", input()));
    add_weight_gradient(
        context_, linear_,
        product(" wgrad", linear_.out, linear_.in, linear_.rows, operands(output()) + operands(input()), 0), set);
  }

 private:
  void add_forward(OperatorSet& set) const {
    const std::int64_t whole = context_.element * weights_of(linear_);
    if (casts_weights()) set.forward.push_back(one_way(" weight cast", whole, cast_weights()));
    if (!has_others_cast()) add_casts(" cast", linear_.in, is_gathered(Linear::Gathered::input), set.forward);
    const std::int64_t weights =
        context_.training ? cast_weights()
                          : weight_operand_bytes(weights_of(linear_),
                                                 context_.stack.kept_weight_datatype(context_.shape.datatype, false),
                                                 context_.stack.scaling);
    set.forward.push_back(
        product("", linear_.rows, linear_.out, linear_.in, operands(input()) + weights, context_.element * output()));
  }

  /// Weights that are gathered again for the backward pass are cast again, the other way.
  void add_input_gradient(OperatorSet& set) const {
    const std::int64_t whole = context_.element * weights_of(linear_);
    if (casts_weights())
      set.input_gradient.push_back(kernel(OperatorKind::copy, " weight transpose", whole, cast_weights()));
    add_casts(" gradient cast", linear_.out, is_gradient_gathered(), set.input_gradient);
    set.input_gradient.push_back(product(" dgrad", linear_.rows, linear_.in, linear_.out,
                                         operands(output()) + cast_weights(), context_.element * input()));
  }

  [[nodiscard]] std::int64_t input() const { return linear_.batch * linear_.rows * linear_.in; }
  [[nodiscard]] std::int64_t output() const { return linear_.batch * linear_.rows * linear_.out; }
  [[nodiscard]] std::int64_t operands(std::int64_t elements) const {
    return operand_bytes(elements, context_.stack.operand_datatype(), context_.stack.scaling);
  }
  [[nodiscard]] bool casts_weights() const { return context_.training && context_.shape.casts_weights; }
  /// B of one of the two.
  [[nodiscard]] std::int64_t cast_weights() const {
    return weight_operand_bytes(weights_of(linear_), context_.stack.operand_datatype(), context_.stack.scaling);
  }
  [[nodiscard]] bool is_gathered(Linear::Gathered what) const { return layer::is_gathered(context_, linear_, what); }
  /// As a cast; one that is gathered as it is has one kernel for both casts behind that.
  [[nodiscard]] bool is_gradient_gathered() const {
    return is_gathered(Linear::Gathered::gradient) && context_.stack.gathers_operands;
  }
  /// What is gathered once is cast once.
  [[nodiscard]] bool has_others_cast() const {
    return linear_.shares_input && is_gathered(Linear::Gathered::input) && context_.stack.gathers_operands;
  }

  [[nodiscard]] Operator product(const char* suffix, std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t read,
                                 std::int64_t written) const {
    Operator op = workload::gemm(linear_.name + suffix, linear_.batch, m, n, k, context_.stack.operand_datatype());
    op.scale_bytes = std::max<std::int64_t>(0, read - op.bytes_read);
    op.bytes_read = read;
    op.bytes_written = written;
    return op;
  }
  [[nodiscard]] Operator kernel(OperatorKind kind, const std::string& suffix, std::int64_t read,
                                std::int64_t written) const {
    return streaming(kind, linear_.name + suffix, Bytes{read}, Bytes{written}, context_.shape.datatype);
  }
  [[nodiscard]] Operator one_way(const std::string& suffix, std::int64_t read, std::int64_t written) const {
    return kernel(OperatorKind::elementwise, suffix, read, written);
  }
  /// A tensor that was gathered, once more: transposed, or cast so.
  [[nodiscard]] Operator second(const char* suffix, std::int64_t elements) const {
    const std::int64_t read = context_.stack.gathers_operands ? operands(elements) : context_.element * elements;
    return kernel(OperatorKind::copy, suffix, read, operands(elements));
  }

  /// Of a tensor with so many columns: both of its casts, or of one that comes once more the first. Ranks that gather
  /// operands cast their own tokens; that this stands behind the gather here changes no time.
  void add_casts(const std::string& suffix, std::int64_t columns, bool comes_again,
                 std::vector<Operator>& operators) const {
    const bool is_own = comes_again && context_.stack.gathers_operands;
    const std::int64_t elements = linear_.batch * (is_own ? context_.tokens_cut : linear_.rows) * columns;
    const std::int64_t read = context_.element * elements;
    if (context_.stack.scaling == Scaling::current)
      operators.push_back(kernel(OperatorKind::reduction, suffix + " amax", read, 0));
    if (!context_.training || comes_again) return operators.push_back(one_way(suffix, read, operands(elements)));
    operators.push_back(kernel(OperatorKind::copy, suffix, read, 2 * operands(elements)));
  }

  const Context& context_;
  const Linear& linear_;
};

}  // namespace

void add_linear(const Context& context, const Linear& linear, OperatorSet& set) {
  if (has_low_operands(context, linear)) return LowLinear(context, linear).add(set);
  const auto& [name, batch, rows, in, out, gathered, is_in_layer, shares_input] = linear;
  Operator forward = context.gemm(name, batch, rows, out, in);
  // Weights of fewer bits are cast inside the product.
  if (is_in_layer && !context.training && context.stack.has_own_weights())
    forward.bytes_read +=
        weight_operand_bytes(weights_of(linear), name_of(context.stack.weight_datatype), context.stack.scaling) -
        context.element * weights_of(linear);
  set.forward.push_back(forward);
  if (!context.training) return;
  set.input_gradient.push_back(context.gemm(name + " dgrad", batch, rows, in, out));
  add_weight_gradient(context, linear, context.gemm(name + " wgrad", batch, out, in, rows), set);
}

std::int64_t input_bytes(const Context& context, const Linear& linear) {
  // Cut in two dimensions a rank has all columns of its tokens, and a part of them in products.
  const std::int64_t rows = context.shape.tensor_rows;
  const bool is_cut = is_gathered(context, linear, Linear::Gathered::input);
  const std::int64_t numbers =
      is_cut ? context.tokens_cut * linear.in * rows
             : linear.rows * (linear.gathered == Linear::Gathered::gradient ? linear.in / rows : linear.in);
  return context.element * linear.batch * numbers;
}

std::int64_t kept_input(const Context& context, const std::vector<Linear>& readers) {
  std::int64_t as_it_is = 0, gathered_cast = 0, own_casts = 0;
  for (const Linear& linear : readers) {
    const std::int64_t bytes = input_bytes(context, linear);
    const bool is_cut = is_gathered(context, linear, Linear::Gathered::input);
    if (!has_low_operands(context, linear) || (is_cut && !context.stack.gathers_operands)) {
      as_it_is = std::max(as_it_is, bytes);
      continue;
    }
    const std::int64_t cast =
        operand_bytes(bytes / context.element, context.stack.operand_datatype(), context.stack.scaling);
    if (is_cut)
      gathered_cast = std::max(gathered_cast, cast);
    else
      own_casts += cast;
  }
  return as_it_is + gathered_cast + own_casts;
}

void keep_input(const Context& context, const Linear& linear, OperatorSet& set) {
  set.kept_input += kept_input(context, {linear});
  if (context.has_low_products) set.input_to_run_again = input_bytes(context, linear);
}

std::int64_t gathered_element(const Context& context) {
  return context.has_low_products && context.stack.gathers_operands ? 1 : 0;
}

}  // namespace tessera::workload::layer
