// The kernels between the last backward pass and the next forward pass.
#include "tessera/workload/transformer.hpp"

namespace tessera::workload {

std::int64_t OptimizerShape::master_bytes() const {
  if (master_weights == MasterWeights::fp32) return bytes_per_element(datatype) == 4 ? 0 : 4;
  return master_weights == MasterWeights::remainder ? 2 : 0;
}

OptimizerOperators optimizer_operators(const OptimizerShape& shape) {
  const std::int64_t element = bytes_per_element(shape.datatype);
  const std::int64_t buffer = shape.gradient_bytes * shape.parameters;
  const std::int64_t state = 4 * shape.updated;  // one FP32 number for each parameter that is updated
  const auto kernel = [](const char* name, std::int64_t read, std::int64_t written) {
    return streaming(OperatorKind::optimizer, name, Bytes{read}, Bytes{written}, "fp32");
  };
  OptimizerOperators operators;
  operators.zero = {kernel("zero gradients", 0, buffer)};
  operators.average = {kernel("average gradients", buffer, buffer)};
  if (shape.gradient_bytes != 4) {
    operators.unscale.push_back(kernel("gradients to fp32", shape.gradient_bytes * shape.updated, state));
  }
  // Losses are scaled in FP16 alone: the other formats reach FP32's smallest numbers, or nearly.
  if (shape.datatype == "fp16") operators.unscale.push_back(kernel("unscale gradients", state, state));
  operators.norm = {kernel("gradient norm", state, 0)};
  const bool copied = shape.master_bytes() == 4;  // Adam works on the copy, and a kernel of its own brings it back
  const std::int64_t kept = (shape.state_bytes() + (copied ? 0 : element)) * shape.updated;
  operators.step = {kernel("adam", state + kept, kept)};  // gradient, weight and two moments; all but the first change
  if (copied) operators.step.push_back(kernel("weights from fp32", state, element * shape.updated));
  return operators;
}

}  // namespace tessera::workload
