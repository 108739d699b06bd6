#include "tessera/base/learning/adam.hpp"

#include <algorithm>
#include <cmath>

namespace tessera::learning {
namespace {
constexpr double decay_of_mean = 0.9, decay_of_square = 0.999;
constexpr float epsilon = 1e-8F;
}  // namespace

double Adam::step(std::vector<float>& weights, const std::vector<float>& gradient, double length, double most_norm) {
  double squares = 0;
  for (const float one : gradient) squares += static_cast<double>(one) * static_cast<double>(one);
  const double norm = std::sqrt(squares);
  const auto shorter = static_cast<float>(std::min(1.0, most_norm / std::max(norm, 1e-30)));
  ++steps;
  const auto count = static_cast<double>(steps);
  const double corrected = std::sqrt(1 - std::pow(decay_of_square, count)) / (1 - std::pow(decay_of_mean, count));
  const auto rate = static_cast<float>(length * corrected);
  constexpr auto old_mean = static_cast<float>(decay_of_mean), old_square = static_cast<float>(decay_of_square);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const float g = shorter * gradient[i];
    mean[i] = old_mean * mean[i] + (1 - old_mean) * g;
    square[i] = old_square * square[i] + (1 - old_square) * g * g;
    weights[i] -= rate * mean[i] / (std::sqrt(square[i]) + epsilon);
  }
  return norm;
}

}  // namespace tessera::learning
