#include "work.hpp"

#include <algorithm>
#include <array>
#include <map>

namespace tessera::strategy::primepar {
namespace {

bool contains(const std::vector<int>& dimensions, int dimension) {
  return std::find(dimensions.begin(), dimensions.end(), dimension) != dimensions.end();
}

}  // namespace

std::int64_t elements(const Slices& slices, const Moment& moment, int device) {
  return elements_of(slices.box(moment.tensor, device, moment.phase, moment.step));
}

std::int64_t share_of(const Slices& slices, int device, std::int64_t whole) {
  double total = 1;
  for (const int dimension : slices.op().dimensions_of(Tensor::output))
    total *= static_cast<double>(slices.op().dimensions[static_cast<std::size_t>(dimension)].extent);
  const auto own = static_cast<double>(elements(slices, {Tensor::output, Phase::forward, slices.steps() - 1}, device));
  return static_cast<std::int64_t>(static_cast<double>(whole) * (own / total) + 0.5);
}

// Dimensions of both operands and the sum are a batch of products; those of both operands alone are added over.
workload::Operator product_on(const Slices& slices, int device, Phase phase, int step, const std::string& datatype) {
  const Operator& op = slices.op();
  const Product product = product_of(phase);
  const std::vector<Range> ranges = slices.ranges(device, phase, step);
  std::int64_t batch = 1, m = 1, n = 1, k = 1;
  for (int i = 0; i < op.dimension_count(); ++i) {
    const std::int64_t size = ranges[static_cast<std::size_t>(i)].size();
    const bool left = contains(op.dimensions_of(product.left), i), right = contains(op.dimensions_of(product.right), i);
    const bool kept = contains(op.dimensions_of(product.sum), i);
    (left && right ? (kept ? batch : k) : left ? m : n) *= size;
  }
  workload::Operator gemm = workload::gemm(op.name + suffix_of(phase), batch, m, n, k, datatype);
  if (step > 0 || (phase == Phase::gradient && op.has_parameters())) gemm.bytes_read += gemm.bytes_written;
  return gemm;
}

std::vector<workload::Operator> streams_on(const Node& node, const Slices& slices, int device, Phase phase) {
  std::vector<workload::Operator> found = node.streams[static_cast<std::size_t>(phase)];
  for (workload::Operator& op : found) {
    op.bytes_read = share_of(slices, device, op.bytes_read);
    op.bytes_written = share_of(slices, device, op.bytes_written);
  }
  return found;
}

workload::Operator addition(const Operator& op, std::int64_t bytes, const std::string& datatype) {
  return workload::streaming(workload::OperatorKind::elementwise, op.name + " sum", Bytes{2 * bytes}, Bytes{bytes},
                             datatype);
}

std::int64_t parameter_bytes(const Node& node, const Slices& slices, int device, std::int64_t element) {
  return node.parameter_sets * element * elements(slices, {Tensor::weight, Phase::forward, 0}, device);
}

std::int64_t input_bytes(const Slices& slices, int device, std::int64_t element) {
  return element * elements(slices, {Tensor::input, Phase::forward, 0}, device);
}

std::int64_t kept_bytes(const Node& node, const Slices& slices, int device, std::int64_t element) {
  std::int64_t sum = share_of(slices, device, node.kept);
  if (node.keeps_input) sum += input_bytes(slices, device, element);
  if (node.op.kind == Kind::matmul) sum += element * elements(slices, {Tensor::weight, Phase::forward, 0}, device);
  return sum;
}

std::int64_t second_buffer_bytes(const CutNode& cut, Phase phase, int device, std::int64_t element) {
  std::map<Tensor, std::int64_t> most;
  for (const StepTransfer& transfer : cut.transfers[static_cast<std::size_t>(phase)]) {
    const Moment moment{transfer.tensor, phase, transfer.step};
    most[transfer.tensor] = std::max(most[transfer.tensor], elements(cut.slices, moment, device));
  }
  if (phase == Phase::gradient && !cut.weights_home.empty())
    most[Tensor::weight] += elements(cut.slices, {Tensor::weight, Phase::forward, 0}, device);
  std::int64_t sum = 0;
  for (const auto& [tensor, size] : most) sum += element * size;
  return sum;
}

std::int64_t summed_bytes(const Node& node, const Slices& slices, int device, Phase phase, std::int64_t element) {
  const bool is_gradient = phase == Phase::gradient && node.op.has_parameters();
  const Moment end{product_of(phase).sum, phase, slices.steps() - 1};
  return (is_gradient ? node.parameter_sets : 1) * element * elements(slices, end, device);
}

std::int64_t statistics_bytes(const Slices& slices, int device) {
  std::int64_t rows = 1;
  const std::vector<Range> ranges = slices.ranges(device, Phase::forward, 0);
  for (const int dimension : slices.op().statistics) rows *= ranges[static_cast<std::size_t>(dimension)].size();
  return 2 * statistics_element * rows;
}

}  // namespace tessera::strategy::primepar
