#include "partition_units.hpp"

namespace tessera::pdes {

// Each rank takes units until it holds its share of the weight that was left when its turn came, to the nearest unit.
RankOfUnit cut_blocks(const Units& units, int ranks) {
  RankOfUnit rank_of(units.count());
  double left = 0;
  for (const double weight : units.weight) left += weight;
  std::size_t unit = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    const auto later_ranks = static_cast<std::size_t>(ranks - rank - 1);
    const double share = left / static_cast<double>(later_ranks + 1);
    double taken = 0;
    for (std::size_t first = unit; unit < units.count() - later_ranks; ++unit) {
      const bool nearer_without = taken + units.weight[unit] - share > share - taken;
      if (later_ranks > 0 && unit > first && nearer_without) break;
      rank_of[unit] = static_cast<std::uint16_t>(rank);
      taken += units.weight[unit];
    }
    left -= taken;
  }
  return rank_of;
}

}  // namespace tessera::pdes
