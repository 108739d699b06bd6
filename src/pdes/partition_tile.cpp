#include <algorithm>
#include <numeric>
#include <tuple>

#include "partition_units.hpp"

namespace tessera::pdes {

namespace {

/// Cuts the units of one rectangle across its longer side so that both parts hold their share of the weight, and goes
/// on with each part until a rank is left for each.
class Bisection {
 public:
  Bisection(const Units& units, RankOfUnit& rank_of) : units_(units), rank_of_(rank_of) {}

  void cut(std::vector<std::uint32_t> part, int first_rank, int ranks) {
    if (ranks == 1) {
      for (const std::uint32_t unit : part) rank_of_[unit] = static_cast<std::uint16_t>(first_rank);
      return;
    }
    sort_along_longer_side(part);
    const int lower_ranks = ranks / 2;
    const auto middle = part.begin() + static_cast<std::ptrdiff_t>(best_cut(part, lower_ranks, ranks));
    cut({part.begin(), middle}, first_rank, lower_ranks);
    cut({middle, part.end()}, first_rank + lower_ranks, ranks - lower_ranks);
  }

 private:
  void sort_along_longer_side(std::vector<std::uint32_t>& part) {
    int low_x = units_.position[part.front()].first, high_x = low_x;
    int low_y = units_.position[part.front()].second, high_y = low_y;
    for (const std::uint32_t unit : part) {
      const auto [x, y] = units_.position[unit];
      low_x = std::min(low_x, x), high_x = std::max(high_x, x);
      low_y = std::min(low_y, y), high_y = std::max(high_y, y);
    }
    const bool along_x = high_x - low_x >= high_y - low_y;
    const auto key = [&](std::uint32_t unit) {
      const auto [x, y] = units_.position[unit];
      return along_x ? std::tuple(x, y, unit) : std::tuple(y, x, unit);
    };
    along_x_ = along_x;
    std::sort(part.begin(), part.end(), [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
  }

  /// How many units the lower part takes. A cut between two columns keeps rectangles; where none leaves enough units on
  /// both sides for their ranks, a column is cut through.
  [[nodiscard]] std::size_t best_cut(const std::vector<std::uint32_t>& part, int lower_ranks, int ranks) const {
    double total = 0;
    for (const std::uint32_t unit : part) total += units_.weight[unit];
    const double share = total * lower_ranks / ranks;
    const auto least = static_cast<std::size_t>(lower_ranks);
    const std::size_t most = part.size() - static_cast<std::size_t>(ranks - lower_ranks);
    std::size_t best = least;
    double best_cost = -1;
    double below = 0;
    for (std::size_t k = 1; k <= most; ++k) {
      below += units_.weight[part[k - 1]];
      if (k < least) continue;
      const bool between_columns = column(part[k - 1]) != column(part[k]);
      const double cost = std::abs(below - share) + (between_columns ? 0 : total);
      if (best_cost < 0 || cost < best_cost) best = k, best_cost = cost;
    }
    return best;
  }

  [[nodiscard]] int column(std::uint32_t unit) const {
    return along_x_ ? units_.position[unit].first : units_.position[unit].second;
  }

  const Units& units_;
  RankOfUnit& rank_of_;
  bool along_x_ = true;
};

}  // namespace

RankOfUnit cut_tiles(const Units& units, int ranks) {
  RankOfUnit rank_of(units.count());
  std::vector<std::uint32_t> all(units.count());
  std::iota(all.begin(), all.end(), 0U);
  Bisection(units, rank_of).cut(std::move(all), 0, ranks);
  return rank_of;
}

}  // namespace tessera::pdes
