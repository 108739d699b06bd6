#include "global_cost.hpp"

#include <algorithm>
#include <cstdlib>

namespace tessera::strategy::watos {

int distance(const Place& a, const Place& b) { return std::abs(a.x - b.x) + std::abs(a.y - b.y); }

PipelineWays::PipelineWays(const Problem& problem) {
  for (const Place& place : problem.places) {
    columns_ = std::max(columns_, place.x + 1);
    rows_ = std::max(rows_, place.y + 1);
  }
  const std::size_t all = static_cast<std::size_t>(columns_) * static_cast<std::size_t>(rows_);
  right_.resize(all);
  down_.resize(all);
  least_.resize(static_cast<std::size_t>(columns_));
}

void PipelineWays::mark(const Place& from, const Place& to) {
  const int left = std::min(from.x, to.x), right = std::max(from.x, to.x);
  for (int x = left; x < right; ++x) right_[at(x, from.y)] = 1;
  const int top = std::min(from.y, to.y), bottom = std::max(from.y, to.y);
  for (int y = top; y < bottom; ++y) down_[at(to.x, y)] = 1;
}

void PipelineWays::take(const Problem& problem, const Solution& solution) {
  std::ranges::fill(right_, std::uint8_t{0});
  std::ranges::fill(down_, std::uint8_t{0});
  for (std::size_t stage = 0; stage + 1 < problem.count(); ++stage) {
    for (std::uint32_t replica = 0; replica < problem.replicas; ++replica)
      mark(problem.places[solution.place(problem, stage, replica)],
           problem.places[solution.place(problem, stage + 1, replica)]);
  }
}

// Row by row from the sender's on: the fewest shared half steps to each column of the row. Within a row a way goes
// towards the receiver alone.
int PipelineWays::shared(const Place& from, const Place& to) {
  const int across = std::abs(to.x - from.x), along = std::abs(to.y - from.y);
  const int step_x = to.x >= from.x ? 1 : -1, step_y = to.y >= from.y ? 1 : -1;
  for (int j = 0; j <= along; ++j) {
    const int y = from.y + j * step_y;
    for (int i = 0; i <= across; ++i) {
      const int x = from.x + i * step_x;
      const auto here = static_cast<std::size_t>(i);
      int least = i == 0 && j == 0 ? 0 : impossible_way;
      if (j > 0) least = least_[here] + down_[at(x, step_y > 0 ? y - 1 : y)];
      if (i > 0) least = std::min(least, least_[here - 1] + right_[at(step_x > 0 ? x - 1 : x, y)]);
      least_[here] = least;
    }
  }
  return least_[static_cast<std::size_t>(across)];
}

Int128 global_cost(const Problem& problem, const Solution& solution, const std::vector<PairedBytes>& loans,
                   PipelineWays& ways) {
  const auto place = [&](std::size_t stage, std::uint32_t replica) -> const Place& {
    return problem.places[solution.place(problem, stage, replica)];
  };
  Int128 cost = 0;
  if (!loans.empty()) ways.take(problem, solution);
  for (std::uint32_t replica = 0; replica < problem.replicas; ++replica) {
    for (std::size_t stage = 0; stage + 1 < problem.count(); ++stage)
      cost += static_cast<Int128>(2 * distance(place(stage, replica), place(stage + 1, replica))) * problem.part_bytes;
    for (const PairedBytes& loan : loans) {
      const Place &sender = place(loan.pair.sender, replica), &helper = place(loan.pair.helper, replica);
      cost += static_cast<Int128>(distance(sender, helper)) * (2 + ways.shared(sender, helper)) * loan.bytes;
    }
  }
  return std::max<Int128>(cost, 1);
}

}  // namespace tessera::strategy::watos
