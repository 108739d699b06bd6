// How many random cases a test draws.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace tessera::test {

/// So many; a tenth of them with sanitizers, under which each takes ten times as long, and where TESSERA_FEW_CASES is
/// set: in a second build of what has been tested (scripts/test-mpich.sh). Ten times as many where TESSERA_MANY_CASES
/// is set, by hand. Otherwise the more ranks, the fewer: with more of them than cores a case takes longer by more than
/// their number.
inline std::uint64_t random_cases(std::uint64_t cases, [[maybe_unused]] int ranks = 1) {
#ifdef __SANITIZE_ADDRESS__
  return cases / 10;
#else
  if (std::getenv("TESSERA_MANY_CASES") != nullptr) return 10 * cases;
  if (std::getenv("TESSERA_FEW_CASES") != nullptr) return cases / 10;
  return cases / static_cast<std::uint64_t>(ranks);
#endif
}

}  // namespace tessera::test
