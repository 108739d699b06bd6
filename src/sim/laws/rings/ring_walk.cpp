#include "sim/laws/rings/ring_walk.hpp"

#include <algorithm>
#include <utility>

#include "sim/laws/rings/seat_walk.hpp"
#include "tessera/base/error.hpp"

namespace tessera::sim {

std::optional<Time> longest(const RingParts& parts, const RingWork& work) {
  try {
    Time step = 0, most = work.pause;
    for (std::uint32_t way = 0; way < parts.shape.ways(); ++way) {
      for (std::size_t kind = 0; kind < work.sizes.size() && !parts.is_gate(way); ++kind) {
        const Passage& lone = parts.ways[way].facts().lone(work.numbers[way * work.sizes.size() + kind]);
        step = std::max({step, lone.delivered, lone.clear});
        if (step == never) return std::nullopt;
      }
    }
    for (const Time time : work.additions) most = std::max(most, time);
    return repeated(2 * std::int64_t{work.steps}, time_after(step, most));
  } catch (const BeyondTimeError&) {
    return std::nullopt;
  }
}

bool is_in_range(Time begin, const RingWork& work) {
  return work.longest && saturating_add(begin, *work.longest) < latest / 2;
}

bool ends_in_range(const RingParts& parts, const RingWork& work, const std::vector<RingEntry>& entries) {
  Time begin = 0;
  for (const RingWay& path : parts.ways) begin = std::max(begin, path.clear_at());
  for (const RingEntry& entry : entries) begin = std::max(begin, entry.at.time);
  return is_in_range(begin, work);
}

namespace {

/// When the last messages of members have left them.
void find_departures(const RingParts& parts, std::vector<TakenEnd>& ends) {
  for (std::uint32_t way = 0; way < parts.shape.ways();) {
    for (TakenEnd& end : ends) end.left = std::max(end.left, parts.ways[way++].left());
  }
}

}  // namespace

std::vector<TakenEnd> ends_of(RingParts& parts, const RingWork& work, const std::vector<RingEntry>& entries) {
  if (auto ends = even_ends(parts, work, entries)) {
    find_departures(parts, *ends);
    return std::move(*ends);
  }
  const AlikeSeats seats = alike_seats(parts, work, entries);
  Leading leading(parts, work, entries, seats, work.steps);
  Walk walk(parts, work, entries, seats);
  std::vector<TakenEnd> ends(entries.size());
  take_steps(walk, work, [&](std::uint32_t step) {
    walk.step();
    const bool is_last = step + 1 == work.steps;
    for (std::uint32_t seat = 0; seat < parts.shape.seats() && is_last; ++seat) {
      TakenEnd& end = ends[parts.shape.rank(seat)];  // of a member: when the last of its seats has ended
      const Moment at = walk.at(seat);
      end.at = std::max(end.at, at);
      end.clock = std::max(end.clock, at.time + walk.addition_of(seat));
    }
    walk.add_all();
    return true;
  });
  leading.follow();
  find_departures(parts, ends);
  return ends;
}

}  // namespace tessera::sim
