#include "tessera/base/learning/layers.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tessera/base/error.hpp"

namespace tessera::learning {

std::size_t Slices::add(std::string name, std::size_t rows, std::size_t columns, std::size_t fan_in) {
  slices.push_back({std::move(name), size, rows, columns, fan_in});
  size += rows * columns;
  return slices.back().begin;
}

std::vector<float> first_values(const Slices& slices, const KeyedRandom& random) {
  std::vector<float> values(slices.size, 0.0F);
  for (const Slice& slice : slices.slices) {
    if (slice.fan_in == 0) continue;
    const double deviation = std::sqrt(2.0 / static_cast<double>(slice.fan_in));
    for (std::size_t i = slice.begin; i < slice.begin + slice.size(); ++i) {
      // Box and Muller: two uniform numbers make a normal one.
      const auto [first, second] = random.pair(i);
      const double radius = std::sqrt(KeyedRandom::to_exponential(first, 2.0));
      values[i] =
          static_cast<float>(deviation * radius * std::cos(2 * std::numbers::pi * KeyedRandom::to_real(second)));
    }
  }
  return values;
}

void add_tensors(const Slices& slices, const std::vector<float>& values, Tensors& to) {
  for (const Slice& slice : slices.slices) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(slice.begin);
    to.all.push_back({slice.name, "a layer's weights: what comes in by what goes out", slice.rows, slice.columns,
                      std::vector<float>(begin, begin + static_cast<std::ptrdiff_t>(slice.size()))});
  }
}

const Tensor& tensor_of(const Tensors& data, const std::string& name, std::size_t rows, std::size_t columns,
                        const std::string& whose) {
  const Tensor* tensor = data.find(name);
  if (tensor == nullptr) throw InputError(fmt::format("the {} has no tensor \"{}\"", whose, name));
  if (tensor->rows != rows || tensor->columns != columns || tensor->values.size() != rows * columns)
    throw InputError(fmt::format("the {}'s networks have another shape: tensor \"{}\" is {} x {}, expected {} x {}",
                                 whose, name, tensor->rows, tensor->columns, rows, columns));
  for (const float value : tensor->values) {
    if (!std::isfinite(value))
      throw InputError(fmt::format("the {}'s tensor \"{}\" has values that are no numbers", whose, name));
  }
  return *tensor;
}

std::vector<float> values_of(const Tensors& data, const Slices& slices, const std::string& whose) {
  std::vector<float> values(slices.size);
  for (const Slice& slice : slices.slices) {
    const Tensor& tensor = tensor_of(data, slice.name, slice.rows, slice.columns, whose);
    std::copy(tensor.values.begin(), tensor.values.end(), values.begin() + static_cast<std::ptrdiff_t>(slice.begin));
  }
  return values;
}

template <class Scalar>
void fill_rows(const Scalar* bias, std::size_t rows, std::size_t columns, std::vector<Scalar>& result) {
  result.resize(rows * columns);
  for (std::size_t row = 0; row < rows; ++row) std::copy_n(bias, columns, result.data() + row * columns);
}

template <class Scalar>
void rectify(std::vector<Scalar>& values) {
  for (Scalar& value : values) value = std::max(value, Scalar{0});
}

template <class Scalar>
void rectify_gradient(const std::vector<Scalar>& values, std::vector<Scalar>& gradient) {
  for (std::size_t i = 0; i < values.size(); ++i) gradient[i] = values[i] > 0 ? gradient[i] : Scalar{0};
}

template <class Scalar>
void add_column_sums(const std::vector<Scalar>& values, std::size_t rows, std::size_t columns, Scalar* sums) {
  for (std::size_t row = 0; row < rows; ++row) {
    const Scalar* from = values.data() + row * columns;
    for (std::size_t i = 0; i < columns; ++i) sums[i] += from[i];
  }
}

template void fill_rows(const float*, std::size_t, std::size_t, std::vector<float>&);
template void fill_rows(const double*, std::size_t, std::size_t, std::vector<double>&);
template void rectify(std::vector<float>&);
template void rectify(std::vector<double>&);
template void rectify_gradient(const std::vector<float>&, std::vector<float>&);
template void rectify_gradient(const std::vector<double>&, std::vector<double>&);
template void add_column_sums(const std::vector<float>&, std::size_t, std::size_t, float*);
template void add_column_sums(const std::vector<double>&, std::size_t, std::size_t, double*);

}  // namespace tessera::learning
