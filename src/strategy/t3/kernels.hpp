// From the options to the kernel of one GEMM, and what cannot be communicated as they say.
#pragma once

#include <optional>

#include "tessera/program/sublayer.hpp"
#include "tessera/strategy/t3/t3.hpp"

namespace tessera::strategy::t3 {

using program::sublayer::Configuration;
using program::sublayer::configuration;
using program::sublayer::Problem;
using program::sublayer::Streams;
using program::sublayer::Work;

/// m x n x k on one device: a row of the result for each token.
struct Product {
  std::int64_t m = 0, n = 0, k = 0;
};
/// Without the user's own maps.
[[nodiscard]] program::GemmKernel gemm_kernel(const Options& options, const Product& product,
                                              const machine::DeviceSpec& device, const std::string& datatype);

/// What cannot be communicated as the options say.
[[nodiscard]] std::optional<Problem> communication_problem(const Work& work, const Options& options);

}  // namespace tessera::strategy::t3
