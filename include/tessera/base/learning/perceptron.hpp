// A multi-layer perceptron: dense layers, rectified between them, the last one linear.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tessera/base/learning/kernels.hpp"
#include "tessera/base/learning/layers.hpp"

namespace tessera::learning {

/// Where its numbers lie: a matrix and a bias a layer, "layer0", "layer0_bias", ...
struct PerceptronLayout : Slices {
  struct Layer {
    std::size_t weights = 0, bias = 0, inputs = 0, outputs = 0;
  };
  /// Features of an example, of each hidden layer its values, and what comes out: at least two numbers.
  explicit PerceptronLayout(const std::vector<std::size_t>& widths);
  std::vector<Layer> layers;
};

/// All values of one pass, layer by layer: examples x width each, the features first. Memory stays from pass to pass.
template <class Scalar>
struct PerceptronPass {
  std::vector<std::vector<Scalar>> values;
  [[nodiscard]] const std::vector<Scalar>& result() const { return values.back(); }
};

/// `parameters` and `gradient`: PerceptronLayout::size numbers.
template <class Scalar>
class Perceptron {
 public:
  /// Both outlive this.
  Perceptron(const PerceptronLayout& layout, const Kernels<Scalar>& kernels) : layout_(layout), kernels_(kernels) {}

  /// `features`: examples x features.
  void forward(const Scalar* parameters, std::span<const Scalar> features, PerceptronPass<Scalar>& pass) const;
  /// Adds to `gradient`. `of_result`: the loss by the pass's result; it is used up.
  void backward(const Scalar* parameters, const PerceptronPass<Scalar>& pass, std::vector<Scalar>& of_result,
                Scalar* gradient) const;

 private:
  const PerceptronLayout& layout_;
  const Kernels<Scalar>& kernels_;
};

}  // namespace tessera::learning
