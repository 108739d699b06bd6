// What dense layers of a network are made of: where their numbers lie, how these begin, and what goes on between
// products of matrices (kernels.hpp). Values are rows x columns, row-major, a row an example.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tessera/base/random.hpp"
#include "tessera/base/tensors.hpp"

namespace tessera::learning {

/// A matrix of a layer, row-major.
struct Slice {
  std::string name;
  std::size_t begin = 0, rows = 0, columns = 0;
  /// Values that a column's sum has, by which its first values are scaled; 0: it begins with zeros.
  std::size_t fan_in = 0;
  [[nodiscard]] std::size_t size() const { return rows * columns; }
};

/// The numbers that a network consists of: one array, of which each layer has a part.
struct Slices {
  std::vector<Slice> slices;
  std::size_t size = 0;

  /// Where the new part begins.
  std::size_t add(std::string name, std::size_t rows, std::size_t columns, std::size_t fan_in);
};

/// Where learning begins: He's normal distribution, a draw a number.
[[nodiscard]] std::vector<float> first_values(const Slices& slices, const KeyedRandom& random);

/// A tensor a slice, behind what is there.
void add_tensors(const Slices& slices, const std::vector<float>& values, Tensors& to);
/// The tensor of that name and shape. InputError where there is none, or a value that is no number; `whose`: "policy".
[[nodiscard]] const Tensor& tensor_of(const Tensors& data, const std::string& name, std::size_t rows,
                                      std::size_t columns, const std::string& whose);
/// add_tensors() backwards.
[[nodiscard]] std::vector<float> values_of(const Tensors& data, const Slices& slices, const std::string& whose);

/// rows x columns, each row the bias.
template <class Scalar>
void fill_rows(const Scalar* bias, std::size_t rows, std::size_t columns, std::vector<Scalar>& result);
template <class Scalar>
void rectify(std::vector<Scalar>& values);
/// 0 where the rectified value is.
template <class Scalar>
void rectify_gradient(const std::vector<Scalar>& values, std::vector<Scalar>& gradient);
/// Adds each column's sum.
template <class Scalar>
void add_column_sums(const std::vector<Scalar>& values, std::size_t rows, std::size_t columns, Scalar* sums);

}  // namespace tessera::learning
