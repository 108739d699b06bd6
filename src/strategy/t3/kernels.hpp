// From the options to the kernel of one GEMM.
#pragma once

#include <optional>

#include "configurations.hpp"

namespace tessera::strategy::t3 {

/// m x n x k on one device: a row of the result for each token.
struct Product {
  std::int64_t m = 0, n = 0, k = 0;
};
/// Without the user's own maps.
[[nodiscard]] program::GemmKernel gemm_kernel(const Options& options, const Product& product,
                                              const machine::DeviceSpec& device, const std::string& datatype);

/// A work-group's parts are whole transactions, and its wavefronts share its rows evenly.
[[nodiscard]] std::optional<KeyProblem> tile_problem(const Options& options, std::int64_t granularity,
                                                     const std::string& datatype);

}  // namespace tessera::strategy::t3
