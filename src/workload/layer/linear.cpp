// Linear layers: their products, and where operands have fewer bits than activations, what casts them.
//
// Products of FP8 on Hopper take their operands with the summed dimension in a row, so that in training each of the
// three tensors is there twice, as it is and transposed: the input for the forward product and the weight gradient, the
// output's gradient for both gradients, the weight for forward product and input gradient (NVIDIA, Transformer Engine
// 1.13, transformer_engine/pytorch/module/linear.py). One kernel makes both; where tensor ranks gather the tensor in
// between, one makes the first and another one, behind the second gather, the other.
#include "context.hpp"

namespace tessera::workload::layer {
namespace {

class LowLinear {
 public:
  LowLinear(const Context& context, const Linear& linear) : context_(context), linear_(linear) {}

  void add(OperatorSet& set) const {
    const auto& [name, batch, rows, in, out, gathered, is_in_layer] = linear_;
    if (context_.training && context_.shape.casts_weights)
      set.forward.push_back(copy(" weight cast", context_.element * weights(), 2 * operands(weights())));
    add_casts(" cast", in, is_gathered(Linear::Gathered::input), set.forward);
    const std::int64_t weight_bytes =
        context_.training ? operands(weights())
                          : operand_bytes(weights(), context_.stack.kept_weights(context_.shape.datatype, false),
                                          context_.stack.scaling);
    set.forward.push_back(product("", rows, out, in, operands(input()) + weight_bytes, context_.element * output()));
    if (!context_.training) return;
    const bool is_gradient_gathered = is_gathered(Linear::Gathered::gradient);
    add_casts(" gradient cast", out, is_gradient_gathered, set.input_gradient);
    if (is_gradient_gathered) set.input_gradient.push_back(second(" gradient transpose", output()));
    set.input_gradient.push_back(
        product(" dgrad", rows, in, out, operands(output()) + operands(weights()), context_.element * input()));
    if (is_gathered(Linear::Gathered::input)) set.weight_gradient.push_back(second(" transpose", input()));
    const std::int64_t gradients = context_.shape.gradient_bytes * weights();
    const bool is_fused = context_.shape.fused_accumulation;
    set.weight_gradient.push_back(
        product(" wgrad", out, in, rows,
                operands(output()) + operands(input()) + (is_fused && context_.shape.adds_gradients ? gradients : 0),
                is_fused ? gradients : context_.element * weights()));
    if (!is_fused) context_.add_accumulation(name, weights(), set);
  }

 private:
  [[nodiscard]] std::int64_t input() const { return linear_.batch * linear_.rows * linear_.in; }
  [[nodiscard]] std::int64_t output() const { return linear_.batch * linear_.rows * linear_.out; }
  [[nodiscard]] std::int64_t weights() const { return linear_.batch * linear_.in * linear_.out; }
  [[nodiscard]] std::int64_t operands(std::int64_t elements) const {
    return operand_bytes(elements, context_.stack.products(), context_.stack.scaling);
  }
  [[nodiscard]] bool is_gathered(Linear::Gathered what) const {
    return context_.shape.sequence_parallel && context_.shape.tensor > 1 && linear_.gathered == what;
  }

  [[nodiscard]] Operator product(const char* suffix, std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t read,
                                 std::int64_t written) const {
    Operator op = workload::gemm(linear_.name + suffix, linear_.batch, m, n, k, context_.stack.products());
    op.bytes_read = read;
    op.bytes_written = written;
    return op;
  }
  [[nodiscard]] Operator copy(const char* suffix, std::int64_t read, std::int64_t written) const {
    return streaming(OperatorKind::copy, linear_.name + suffix, Bytes{read}, Bytes{written}, context_.shape.datatype);
  }
  /// A tensor that was gathered, once more: transposed, or cast so.
  [[nodiscard]] Operator second(const char* suffix, std::int64_t elements) const {
    const bool is_cast = context_.stack.gathers_operands;
    return copy(suffix, is_cast ? operands(elements) : context_.element * elements, operands(elements));
  }

  /// Of a tensor with so many columns: both of its casts, or of one that is gathered the first. Ranks that gather
  /// operands cast their own tokens; that this stands behind the gather here changes no time.
  void add_casts(const std::string& suffix, std::int64_t columns, bool is_gathered,
                 std::vector<Operator>& operators) const {
    const bool is_own = is_gathered && context_.stack.gathers_operands;
    const std::int64_t elements = linear_.batch * (is_own ? context_.tokens_cut : linear_.rows) * columns;
    const std::int64_t read = context_.element * elements;
    if (context_.stack.scaling == Scaling::current)
      operators.push_back(streaming(OperatorKind::reduction, linear_.name + suffix + " amax", Bytes{read}, Bytes{0},
                                    context_.shape.datatype));
    if (context_.training && !is_gathered)
      return operators.push_back(copy(suffix.c_str(), read, 2 * operands(elements)));
    operators.push_back(streaming(OperatorKind::elementwise, linear_.name + suffix, Bytes{read},
                                  Bytes{operands(elements)}, context_.shape.datatype));
  }

  const Context& context_;
  const Linear& linear_;
};

}  // namespace

void add_linear(const Context& context, const Linear& linear, OperatorSet& set) {
  if (context.low && linear.is_in_layer) return LowLinear(context, linear).add(set);
  const auto& [name, batch, rows, in, out, gathered, is_in_layer] = linear;
  const std::int64_t parameters = batch * in * out;
  Operator forward = context.gemm(name, batch, rows, out, in);
  // Weights of fewer bits are cast inside the product.
  if (is_in_layer && !context.training && context.stack.has_own_weights())
    forward.bytes_read += operand_bytes(parameters, name_of(context.stack.weight_datatype), context.stack.scaling) -
                          context.element * parameters;
  set.forward.push_back(forward);
  if (!context.training) return;
  set.input_gradient.push_back(context.gemm(name + " dgrad", batch, rows, in, out));
  Operator weight = context.gemm(name + " wgrad", batch, out, in, rows);
  const std::int64_t gradients = context.shape.gradient_bytes * parameters;
  if (context.shape.fused_accumulation) {
    // The product is added to the gradient buffer where it stands: read and written in that buffer's precision.
    if (context.shape.adds_gradients) weight.bytes_read += gradients;
    weight.bytes_written = gradients;
    set.weight_gradient.push_back(weight);
  } else {
    set.weight_gradient.push_back(weight);
    context.add_accumulation(name, parameters, set);
  }
}

std::int64_t kept_operand(const Context& context, std::int64_t elements) {
  return context.low ? operand_bytes(elements, context.stack.products(), context.stack.scaling)
                     : context.element * elements;
}

std::int64_t gathered_element(const Context& context) { return context.low && context.stack.gathers_operands ? 1 : 0; }

}  // namespace tessera::workload::layer
