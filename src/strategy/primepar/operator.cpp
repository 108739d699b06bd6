#include "operator.hpp"

#include <fmt/format.h>

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

Operator linear(const std::string& name, std::int64_t batch, std::int64_t rows, std::int64_t contracted,
                std::int64_t columns) {
  enum : int { b, m, n, k };
  Operator op{name, {{"B", batch}, {"M", rows}, {"N", contracted}, {"K", columns}}, {}, m, n, k};
  op.tensors = {{{b, m, n}, {n, k}, {b, m, k}}};
  for (const Dimension& dimension : op.dimensions) {
    if (dimension.extent < 1)
      throw InputError(
          fmt::format("operator {}: dimension {} has {} elements, not one", name, dimension.name, dimension.extent));
  }
  return op;
}

}  // namespace tessera::strategy::primepar
