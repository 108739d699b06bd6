// How far a search goes before it has proven what it found, as people say it.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace tessera::program::search {

/// When a search may end before it has proven that nothing is faster.
struct Limits {
  double within = 0;             ///< nothing that is left can be faster by more than this part of the best time
  std::int64_t evaluations = 0;  ///< simulations, at most; 0: as many as it takes
  double seconds = 0;            ///< from `begin` on, whatever it is at then; 0: as long as it takes
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();

  [[nodiscard]] bool is_timed() const { return seconds > 0; }
  /// By this rank's clock. Others may be of another opinion.
  [[nodiscard]] bool is_over() const {
    return is_timed() && std::chrono::steady_clock::now() - begin >= std::chrono::duration<double>(seconds);
  }
};

/// Of `--budget`: "200" simulations or a time ("10 min"), InputError otherwise; and of `--within`: "2%". Time runs from
/// then on.
[[nodiscard]] Limits parse_limits(const std::string& within, const std::string& budget);

}  // namespace tessera::program::search
