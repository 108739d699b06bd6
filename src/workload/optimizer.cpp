// Kernels between a backward pass and the next forward pass.
#include "tessera/workload/transformer.hpp"

namespace tessera::workload {
namespace {

Operator kernel(const char* name, std::int64_t read, std::int64_t written) {
  return streaming(OperatorKind::optimizer, name, Bytes{read}, Bytes{written}, "fp32");
}

/// Adam works on a copy of the weights in FP32, which goes back to their datatype.
bool is_copied(const OptimizerShape& shape) { return shape.master_bytes() == 4; }

std::int64_t in_fp32(const OptimizerShape& shape) { return 4 * shape.updated; }

/// To FP32, and without the scale: losses are scaled in FP16 alone, since the other formats reach FP32's smallest
/// numbers, or nearly.
std::vector<Operator> unscaled(const OptimizerShape& shape) {
  std::vector<Operator> kernels;
  const std::int64_t state = in_fp32(shape);
  if (shape.gradient_bytes != 4)
    kernels.push_back(kernel("gradients to fp32", shape.gradient_bytes * shape.updated, state));
  if (shape.datatype == "fp16") kernels.push_back(kernel("unscale gradients", state, state));
  return kernels;
}

Operator weights_back(const OptimizerShape& shape) {
  return kernel("weights from fp32", in_fp32(shape), bytes_per_element(shape.datatype) * shape.updated);
}

void add_megatron(const OptimizerShape& shape, OptimizerOperators& operators) {
  const std::int64_t element = bytes_per_element(shape.datatype), state = in_fp32(shape);
  operators.unscale = unscaled(shape);
  operators.norm = {kernel("gradient norm", state, 0)};
  const std::int64_t kept = (shape.state_bytes() + (is_copied(shape) ? 0 : element)) * shape.updated;
  operators.step = {kernel("adam", state + kept, kept)};  // gradient, weight and two moments; all but the first change
  if (is_copied(shape)) operators.step.push_back(weights_back(shape));
}

/// With BF16 gradients and a copy in FP32: 2 + 12 bytes read and 12 + 2 written.
void add_fused(const OptimizerShape& shape, OptimizerOperators& operators) {
  const std::int64_t element = bytes_per_element(shape.datatype);
  const std::int64_t gradients = shape.gradient_bytes * shape.updated;
  const std::int64_t read = (shape.state_bytes() + (is_copied(shape) ? 0 : element)) * shape.updated;
  operators.average.clear();
  operators.norm = {kernel("gradient norm", gradients, 0)};
  operators.step = {kernel("adam", gradients + read, (shape.state_bytes() + element) * shape.updated)};
}

/// m = b m + (1 - b) g, v likewise of g squared, w -= lr m / (sqrt(v / c) + e): 80 bytes in FP32.
void add_eager(const OptimizerShape& shape, OptimizerOperators& operators) {
  const std::int64_t numbers = shape.updated, state = in_fp32(shape);
  const std::int64_t moment = shape.moment_bytes * numbers;
  const std::int64_t weight =
      is_copied(shape) ? state : (shape.master_bytes() + bytes_per_element(shape.datatype)) * numbers;
  operators.unscale = unscaled(shape);
  operators.norm = {kernel("gradient norm", state, 0), kernel("clip gradients", state, state)};
  operators.step = {kernel("adam decay first moment", moment, moment),
                    kernel("adam first moment", moment + state, moment),
                    kernel("adam decay second moment", moment, moment),
                    kernel("adam second moment", moment + state, moment),
                    kernel("adam square root", moment, state),
                    kernel("adam correction", state, state),
                    kernel("adam epsilon", state, state),
                    kernel("adam weights", weight + moment + state, weight)};
  if (is_copied(shape)) operators.step.push_back(weights_back(shape));
}

}  // namespace

std::int64_t OptimizerShape::master_bytes() const {
  if (master_weights == MasterWeights::fp32) return bytes_per_element(datatype) == 4 ? 0 : 4;
  return master_weights == MasterWeights::remainder ? 2 : 0;
}

OptimizerOperators optimizer_operators(const OptimizerShape& shape) {
  const std::int64_t buffer = shape.gradient_bytes * shape.parameters;
  OptimizerOperators operators;
  operators.zero = {kernel("zero gradients", 0, buffer)};
  operators.average = {kernel("average gradients", buffer, buffer)};
  if (shape.update == Update::megatron) add_megatron(shape, operators);
  if (shape.update == Update::fused) add_fused(shape, operators);
  if (shape.update == Update::eager) add_eager(shape, operators);
  return operators;
}

}  // namespace tessera::workload
