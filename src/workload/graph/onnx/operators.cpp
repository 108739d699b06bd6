#include "operators.hpp"

#include <map>

#include "tessera/base/error.hpp"
#include "tessera/base/integers.hpp"

namespace tessera::workload {
namespace {

Operator product(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k) {
  Operator op;
  op.kind = OperatorKind::gemm;
  op.batch = batch;
  op.m = m;
  op.n = n;
  op.k = k;
  op.flops = 2;
  for (const std::int64_t factor : {batch, m, n, k}) op.flops = saturating_product(op.flops, factor);
  return op;
}

std::int64_t at(const Shape& shape, std::size_t index) {
  if (index >= shape.size()) throw InputError("an operand has fewer dimensions than its operator needs");
  return shape[index];
}

std::int64_t rest(const Shape& shape, std::size_t from) {
  std::int64_t all = 1;
  for (std::size_t i = from; i < shape.size(); ++i) all = saturating_product(all, shape[i]);
  return all;
}

const Shape& operand(const std::vector<Shape>& shapes, std::size_t index) {
  if (index >= shapes.size()) throw InputError("an operand is missing");
  return shapes[index];
}

/// Weights (out, in / groups, kernel ...): a product for each group, of all places of the output.
Operator convolution(const OnnxCall& call) {
  const Shape &weights = operand(call.inputs, 1), &out = operand(call.outputs, 0);
  const std::int64_t groups = std::max<std::int64_t>(1, call.attribute("group", 1));
  return product(groups, saturating_product(at(out, 0), rest(out, 2)), at(weights, 0) / groups, rest(weights, 1));
}

/// Weights (in, out / groups, kernel ...), of all places of the input.
Operator transposed_convolution(const OnnxCall& call) {
  const Shape &in = operand(call.inputs, 0), &weights = operand(call.inputs, 1);
  const std::int64_t groups = std::max<std::int64_t>(1, call.attribute("group", 1));
  return product(groups, saturating_product(at(in, 0), rest(in, 2)), rest(weights, 1), at(weights, 0) / groups);
}

Operator linear(const OnnxCall& call) {
  const Shape &a = operand(call.inputs, 0), &out = operand(call.outputs, 0);
  const std::size_t inner = call.attribute("transA", 0) != 0 ? 0 : 1;
  return product(1, at(out, 0), at(out, 1), at(a, inner));
}

/// A matrix that is the same for all products is one operand of a larger one.
Operator matrix_product(const OnnxCall& call) {
  const Shape &a = operand(call.inputs, 0), &b = operand(call.inputs, 1), &out = operand(call.outputs, 0);
  if (a.empty() || b.empty()) throw InputError("an operand is a scalar");
  const std::int64_t k = a.back(), n = b.size() > 1 ? b.back() : 1, all = elements_of(out);
  if (b.size() <= 2 || a.size() < 2) return product(1, n == 0 ? 0 : all / n, n, k);
  const std::int64_t m = a[a.size() - 2], one = saturating_product(m, n);
  return product(one == 0 ? 0 : all / one, m, n, k);
}

/// Input (steps, batch, in), weights (directions, gates x hidden, in), recurrent ones (directions, gates x hidden,
/// hidden).
Operator recurrent(const OnnxCall& call) {
  const Shape &in = operand(call.inputs, 0), &w = operand(call.inputs, 1), &r = operand(call.inputs, 2);
  return product(at(w, 0), saturating_product(at(in, 0), at(in, 1)), at(w, 1), saturating_sum(at(w, 2), at(r, 2)));
}

std::map<std::string, OnnxOperator> known_operators() {
  std::map<std::string, OnnxOperator> all;
  all["Conv"] = {OperatorKind::gemm, convolution, false, {}};
  all["ConvTranspose"] = {OperatorKind::gemm, transposed_convolution, false, {}};
  all["Gemm"] = {OperatorKind::gemm, linear, false, {}};
  all["MatMul"] = {OperatorKind::gemm, matrix_product, false, {}};
  for (const char* name : {"LSTM", "GRU", "RNN"}) all[name] = {OperatorKind::gemm, recurrent, false, {}};
  const auto streams = [&](OperatorKind kind, std::initializer_list<const char*> names) {
    for (const char* name : names) all[name] = {kind, {}, false, {}};
  };
  all["BatchNormalization"] = {OperatorKind::norm, {}, false, {3, 4}};  // running mean and variance
  streams(OperatorKind::norm,
          {"InstanceNormalization", "LayerNormalization", "LRN", "LpNormalization", "MeanVarianceNormalization"});
  streams(OperatorKind::softmax, {"Softmax", "LogSoftmax", "Hardmax"});
  streams(OperatorKind::embedding, {"Gather", "GatherElements", "GatherND", "ScatterElements", "ScatterND", "OneHot"});
  streams(OperatorKind::reduction, {"ReduceMean",
                                    "ReduceSum",
                                    "ReduceMax",
                                    "ReduceMin",
                                    "ReduceProd",
                                    "ReduceL1",
                                    "ReduceL2",
                                    "ReduceSumSquare",
                                    "ReduceLogSumExp",
                                    "ArgMax",
                                    "ArgMin",
                                    "CumSum",
                                    "TopK",
                                    "AveragePool",
                                    "MaxPool",
                                    "LpPool",
                                    "GlobalAveragePool",
                                    "GlobalMaxPool",
                                    "NonMaxSuppression",
                                    "RoiAlign"});
  streams(OperatorKind::copy, {"Concat", "Transpose", "Slice", "Split", "Pad", "Expand", "Tile", "Resize", "Upsample",
                               "DepthToSpace", "SpaceToDepth", "Cast", "ConstantOfShape", "Range"});
  streams(OperatorKind::elementwise, {"Add",
                                      "Sub",
                                      "Mul",
                                      "Div",
                                      "Pow",
                                      "Mod",
                                      "Min",
                                      "Max",
                                      "Sum",
                                      "Mean",
                                      "Relu",
                                      "PRelu",
                                      "Elu",
                                      "Selu",
                                      "LeakyRelu",
                                      "Celu",
                                      "Gelu",
                                      "Sigmoid",
                                      "HardSwish",
                                      "HardSigmoid",
                                      "Tanh",
                                      "Softplus",
                                      "Softsign",
                                      "Clip",
                                      "Erf",
                                      "Exp",
                                      "Log",
                                      "Sqrt",
                                      "Reciprocal",
                                      "Neg",
                                      "Abs",
                                      "Floor",
                                      "Ceil",
                                      "Round",
                                      "Sign",
                                      "Sin",
                                      "Cos",
                                      "Where",
                                      "Equal",
                                      "Greater",
                                      "GreaterOrEqual",
                                      "Less",
                                      "LessOrEqual",
                                      "And",
                                      "Or",
                                      "Not",
                                      "Xor",
                                      "IsNaN",
                                      "QuantizeLinear",
                                      "DequantizeLinear",
                                      "Mish"});
  for (const char* name : {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Shape", "Size", "Dropout"})
    all[name] = {OperatorKind::copy, {}, true, {}};
  // Sizes, bounds and fillings are no weights, whatever their type.
  for (const char* name : {"Resize", "Upsample", "Clip", "Pad", "Expand", "Tile", "Slice", "Range", "Dropout"})
    all[name].not_trained = {1, 2, 3};
  all["OneHot"].not_trained = {1, 2};
  return all;
}

}  // namespace

std::int64_t elements_of(const Shape& shape) { return rest(shape, 0); }

const OnnxOperator* find_onnx_operator(const std::string& type) {
  static const std::map<std::string, OnnxOperator> all = known_operators();
  const auto found = all.find(type);
  return found == all.end() ? nullptr : &found->second;
}

}  // namespace tessera::workload
