// How many random cases a test draws.
#pragma once

#include <cstdint>

namespace tessera::test {

#ifdef __SANITIZE_ADDRESS__
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

/// So many, or a tenth of them with sanitizers, under which each takes ten times as long.
constexpr std::uint64_t random_cases(std::uint64_t cases) { return sanitized ? cases / 10 : cases; }

}  // namespace tessera::test
