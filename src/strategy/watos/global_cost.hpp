// What a placement costs: Eq. (2) of WATOS, in whole numbers.
//
//   GlobalCost = sum over neighbouring stages of Dist x Comm_PP + sum over pairs of Dist x Comm_pair x (1 + gamma)
//
// The paper's sum runs to PP - 2: the last stage has no next one. Dist is between centres of places along columns and
// rows; gamma counts the links of the pair's way that lie on ways of the pipeline, of all shortest ways that with the
// fewest. Ways lead over the half steps in which centres are given, those of the pipeline along the row first.
#pragma once

#include <cstdint>
#include <vector>

#include "problem.hpp"

namespace tessera::strategy::watos {

/// Half steps between two centres.
[[nodiscard]] int distance(const Place& a, const Place& b);

/// Half steps that ways of the pipeline take.
class PipelineWays {
 public:
  explicit PipelineWays(const Problem& problem);
  /// Of that solution, in the place of what was taken before.
  void take(const Problem& problem, const Solution& solution);
  /// gamma, in half links: least over all shortest ways.
  [[nodiscard]] int shared(const Place& from, const Place& to);

 private:
  [[nodiscard]] std::size_t at(int x, int y) const {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(columns_) + static_cast<std::size_t>(x);
  }
  void mark(const Place& from, const Place& to);

  static constexpr int impossible_way = 1 << 20;
  int columns_ = 1, rows_ = 1;
  std::vector<std::uint8_t> right_, down_;  // of the half step from (x, y) to the next column, to the next row
  std::vector<int> least_;                  // of the dynamic program
};

/// Four times Eq. (2), in bytes of a die and micro-batch times links: with half steps and half links it is a whole
/// number. At least 1, so that it can be a factor.
[[nodiscard]] Int128 global_cost(const Problem& problem, const Solution& solution,
                                 const std::vector<PairedBytes>& loans, PipelineWays& ways);

}  // namespace tessera::strategy::watos
