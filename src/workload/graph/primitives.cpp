#include "primitives.hpp"

#include <algorithm>
#include <utility>

#include "tessera/base/integers.hpp"

namespace tessera::workload {
namespace {

constexpr std::int64_t fp32_bytes = 4;

}  // namespace

Primitives::Primitives(Graph& graph, std::string datatype)
    : graph_(graph), datatype_(std::move(datatype)), size_(bytes_per_element(datatype_)) {}

TensorId Primitives::there(TensorKind kind, const std::string& name, std::int64_t elements, std::int64_t size) {
  graph_.tensors.push_back({prefix_ + name, kind, elements, elements * size});
  return static_cast<TensorId>(graph_.tensors.size() - 1);
}

TensorId Primitives::input(const std::string& name, std::int64_t elements) {
  return there(TensorKind::input, name, elements, size_);
}

TensorId Primitives::parameter(const std::string& name, std::int64_t elements) {
  return there(TensorKind::parameter, name, elements, size_);
}

bool Primitives::is_wide(TensorId tensor) const {
  return size_ < fp32_bytes && graph_.tensors[tensor].bytes == fp32_bytes * elements(tensor);
}

TensorId Primitives::add(const std::string& name, Operator op, std::vector<TensorId> reads, std::int64_t elements,
                         std::int64_t size) {
  op.name = name;
  GraphNode node{prefix_ + name, {}, std::move(reads), {there(TensorKind::made, name, elements, size)}};
  node.work.forward = {std::move(op)};
  graph_.nodes.push_back(std::move(node));
  return graph_.nodes.back().writes.front();
}

std::int64_t Primitives::bytes(const std::vector<TensorId>& tensors) const {
  std::int64_t sum = 0;
  for (auto one = tensors.begin(); one != tensors.end(); ++one)
    if (std::find(tensors.begin(), one, *one) == one) sum = saturating_sum(sum, graph_.tensors[*one].bytes);
  return sum;
}

TensorId Primitives::product(const std::string& name, std::vector<TensorId> reads, const Sides& sides,
                             std::int64_t elements, const Convolution& convolution) {
  Operator op = gemm(name, sides.batch, sides.m, sides.n, sides.k, datatype_);
  op.bytes_read = bytes(reads);
  op.bytes_written = elements * size_;
  op.convolution = convolution;
  return add(name, std::move(op), std::move(reads), elements, size_);
}

TensorId Primitives::move(OperatorKind kind, const std::string& name, std::vector<TensorId> reads,
                          std::int64_t elements, std::int64_t size) {
  Operator op = streaming(kind, name, Bytes{bytes(reads)}, Bytes{elements * size}, datatype_);
  return add(name, std::move(op), std::move(reads), elements, size);
}

TensorId Primitives::stream(OperatorKind kind, const std::string& name, std::vector<TensorId> reads,
                            std::int64_t elements) {
  const std::int64_t size = is_wide(reads.front()) ? fp32_bytes : size_;
  return move(kind, name, std::move(reads), elements, size);
}

TensorId Primitives::elementwise(const std::string& name, std::vector<TensorId> reads) {
  const std::int64_t count = elements(reads.front());
  return stream(OperatorKind::elementwise, name, std::move(reads), count);
}

TensorId Primitives::reduce(const std::string& name, TensorId read, std::int64_t elements) {
  return stream(OperatorKind::reduction, name, {read}, elements);
}

TensorId Primitives::broadcast(const std::string& name, TensorId read, TensorId like) {
  return move(OperatorKind::copy, name, {read}, elements(like), is_wide(like) ? fp32_bytes : size_);
}

TensorId Primitives::part(OperatorKind kind, const std::string& name, std::vector<TensorId> reads,
                          std::int64_t elements) {
  const std::int64_t size = is_wide(reads.front()) ? fp32_bytes : size_;
  const std::int64_t others = bytes({reads.begin() + 1, reads.end()});
  Operator op = streaming(kind, name, Bytes{elements * size + others}, Bytes{elements * size}, datatype_);
  return add(name, std::move(op), std::move(reads), elements, size);
}

TensorId Primitives::view(const std::string& name, TensorId read) {
  const std::int64_t size = is_wide(read) ? fp32_bytes : size_;
  return add(name, streaming(OperatorKind::copy, name, {}, {}, datatype_), {read}, elements(read), size);
}

TensorId Primitives::widen(const std::string& name, TensorId read) {
  if (size_ == fp32_bytes) return read;
  return move(OperatorKind::elementwise, name, {read}, elements(read), fp32_bytes);
}

TensorId Primitives::narrow(const std::string& name, TensorId read) {
  if (size_ == fp32_bytes) return read;
  return move(OperatorKind::elementwise, name, {read}, elements(read), size_);
}

}  // namespace tessera::workload
