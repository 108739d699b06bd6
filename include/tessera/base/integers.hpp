// Arithmetic on whole numbers.
#pragma once

#include <cstdint>

namespace tessera {

/// The quotient rounded up; a >= 0, b > 0.
[[nodiscard]] constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace tessera
