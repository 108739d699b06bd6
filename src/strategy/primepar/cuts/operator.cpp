#include "operator.hpp"

#include <fmt/format.h>

#include <numeric>
#include <utility>

#include "tessera/base/error.hpp"

namespace tessera::strategy::primepar {

const char* name_of(Phase phase) {
  constexpr std::array<const char*, 3> names{"forward", "backward", "gradient"};
  return names[static_cast<std::size_t>(phase)];
}

const char* name_of(Tensor tensor) {
  constexpr std::array<const char*, 6> names{"I", "W", "O", "dI", "dW", "dO"};
  return names[static_cast<std::size_t>(tensor)];
}

const char* suffix_of(Phase phase) {
  constexpr std::array<const char*, 3> suffixes{"", " dgrad", " wgrad"};
  return suffixes[static_cast<std::size_t>(phase)];
}

Product product_of(Phase phase) {
  switch (phase) {
    case Phase::forward:
      return {Tensor::input, Tensor::weight, Tensor::output};
    case Phase::backward:
      return {Tensor::output_gradient, Tensor::weight, Tensor::input_gradient};
    case Phase::gradient:
      return {Tensor::input, Tensor::output_gradient, Tensor::weight_gradient};
  }
  throw InternalError("a phase that is none");
}

const std::vector<int>& Operator::dimensions_of(Tensor tensor) const {
  return tensors[static_cast<std::size_t>(tensor) % 3];
}

namespace {

void check_extents(const Operator& op) {
  for (const Dimension& dimension : op.dimensions) {
    if (dimension.extent < 1)
      throw InputError(
          fmt::format("operator {}: dimension {} has {} elements, not one", op.name, dimension.name, dimension.extent));
  }
}

}  // namespace

Operator linear(const std::string& name, std::int64_t batch, std::int64_t rows, std::int64_t contracted,
                std::int64_t columns) {
  enum : int { b, m, n, k };
  Operator op{name, {{"B", batch}, {"M", rows}, {"N", contracted}, {"K", columns}}, {}, m, n, k, Kind::linear, {}};
  op.tensors = {{{b, m, n}, {n, k}, {b, m, k}}};
  check_extents(op);
  return op;
}

Operator matmul(const std::string& name, const Heads& heads, std::int64_t rows, std::int64_t contracted,
                std::int64_t columns) {
  enum : int { b, h, g, m, n, k };
  Operator op{name, {{"B", heads.batch}, {"H", heads.heads}, {"G", heads.queries, true}}, {}, m, n, k, Kind::matmul,
              {}};
  op.dimensions.insert(op.dimensions.end(), {{"M", rows}, {"N", contracted}, {"K", columns}});
  op.tensors = {{{b, h, g, m, n}, {b, h, n, k}, {b, h, g, m, k}}};
  check_extents(op);
  return op;
}

Operator streaming(const std::string& name, std::vector<Dimension> dimensions, std::vector<int> parameters) {
  Operator op;
  op.name = name;
  op.dimensions = std::move(dimensions);
  op.kind = Kind::streaming;
  std::vector<int> all(op.dimensions.size());
  std::iota(all.begin(), all.end(), 0);
  op.tensors = {all, std::move(parameters), all};
  op.dimensions.push_back({repetition, std::int64_t{1} << 30});
  check_extents(op);
  return op;
}

}  // namespace tessera::strategy::primepar
