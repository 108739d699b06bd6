// How long the rings in rows and columns of a rectangle take.
#include "rectangle.hpp"
#include "tessera/program/message_time.hpp"

namespace tessera::program {

double longest_run(const std::vector<double>& edges, std::uint32_t steps) {
  double longest = 0;
  for (std::size_t first = 0; first < edges.size(); ++first) {
    double run = 0;
    for (std::size_t i = 0; i < steps; ++i) run += edges[(first + i) % edges.size()];
    longest = std::max(longest, run);
  }
  return longest;
}

double RectangleTimes::in_lines(Lines lines, std::uint32_t steps, std::int64_t chunk) const {
  const bool rows = lines == Lines::rows;
  const std::uint32_t size = rows ? rectangle_.columns : rectangle_.rows;
  const RingOrder order{size, rows ? rectangle_.row_closes : rectangle_.column_closes};
  double slowest = 0;
  std::vector<double> edges(size);
  for (std::uint32_t line = 0; line < (rows ? rectangle_.rows : rectangle_.columns); ++line) {
    const auto member = [&](std::uint32_t position) {
      const std::uint32_t die = order.die_at(position);
      return group_.members[rows ? rectangle_.rank_at(die, line) : rectangle_.rank_at(line, die)];
    };
    for (std::uint32_t i = 0; i < size; ++i)
      edges[i] = size < 2 ? 0 : message_time(machine_, member(i), member((i + 1) % size), Bytes{chunk});
    slowest = std::max(slowest, longest_run(edges, steps));
  }
  return slowest;
}

double RectangleTimes::by_lines(const Collective& collective, Lines lines) const {
  const auto size = static_cast<std::uint32_t>(group_.members.size());
  const Lines across = lines == Lines::rows ? Lines::columns : Lines::rows;
  const std::uint32_t members = rectangle_.per_line(lines);
  std::int64_t largest = 0;
  for (std::uint32_t line = 0; line < size / members; ++line)
    largest = std::max(largest, chunks_of(collective, size, rectangle_.in_line(lines, line)).bytes);
  return in_lines(across, ring_pass(size / members), largest) +
         in_lines(lines, ring_pass(members), chunk_of(collective, size, 0).bytes);
}

}  // namespace tessera::program
