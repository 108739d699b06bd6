// Adam (Kingma and Ba, ICLR 2015, Algorithm 1).
#pragma once

#include <cstdint>
#include <vector>

namespace tessera::learning {

struct Adam {
  std::vector<float> mean, square;  ///< of the gradients: first and second moment
  std::int64_t steps = 0;

  explicit Adam(std::size_t size) : mean(size, 0.0F), square(size, 0.0F) {}
  /// One step of that length down the gradient, which is first made no longer than `most_norm`. Returns the gradient's
  /// own norm. `weights`: that many, changed.
  double step(std::vector<float>& weights, const std::vector<float>& gradient, double length, double most_norm);
};

}  // namespace tessera::learning
