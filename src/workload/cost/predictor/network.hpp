// From a product on a device to its time: what the network sees of it, and what it answers.
#pragma once

#include <string>
#include <vector>

#include "tessera/base/learning/perceptron.hpp"
#include "tessera/base/tensors.hpp"
#include "tessera/workload/operator.hpp"

namespace tessera::workload::predictor {

/// What a device's figures are to it: times are learnt relative to the longer of arithmetic at peak and memory traffic.
struct Basis {
  const machine::DeviceSpec* device = nullptr;
  double memory_share = 1;  ///< of the memory's bandwidth, that products reach
};
/// All figures of the device on which the times of products depend, as one reads them: what a file was trained for.
[[nodiscard]] std::string basis_text(const Basis& basis, const std::string& datatype);
/// ps: the longer of both.
[[nodiscard]] double bound(const Basis& basis, const Operator& op);

/// Features of a product: the logarithms of its sizes and of how much longer one of the two bounds is, and how well
/// each side fills the array.
inline constexpr std::size_t features = 19;
void add_features(const Basis& basis, const Operator& op, std::vector<float>& to);

/// Two hidden layers of 64.
[[nodiscard]] const learning::PerceptronLayout& layout();

/// Weights and what they were trained for.
[[nodiscard]] Tensors data_of(const std::vector<float>& weights, const std::string& basis, const std::string& datatype);
/// Those of a file. InputError, in a line, for what is no predictor, one for another device, and a damaged one.
[[nodiscard]] std::vector<float> weights_of(const Tensors& data, const std::string& basis);

/// ps, of each of `operators`. The same bits on every processor.
[[nodiscard]] std::vector<double> predicted(const std::vector<float>& weights, const Basis& basis,
                                            const std::vector<Operator>& operators);

}  // namespace tessera::workload::predictor
