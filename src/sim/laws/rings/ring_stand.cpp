#include "sim/laws/rings/ring_stand.hpp"

#include <algorithm>

#include "sim/laws/rings/seat_walk.hpp"

namespace tessera::sim {
namespace {

/// How many steps are over before that.
std::uint32_t steps_before(Time end, RingParts& parts, const RingWork& work, const std::vector<RingEntry>& entries,
                           const AlikeSeats& seats) {
  Walk walk(parts, work, entries, seats);
  const std::uint32_t steps = take_steps(walk, work, [&](std::uint32_t step) {
    if (step + 1 == work.steps) return false;
    walk.step();
    walk.add_all();
    return walk.latest_at() < end;
  });
  for (RingWay& path : parts.ways) path.rewind();
  return steps;
}

/// A message tells of the latest join of those on whom it depends: with each step of those one seat farther away, until
/// none is later.
std::vector<Time> waits(const RingParts& parts, const RingWork& work, const std::vector<RingEntry>& entries,
                        std::uint32_t steps) {
  const std::uint32_t seats = parts.shape.seats();
  std::vector<Time> latest;
  for (std::uint32_t seat = 0; seat < seats; ++seat) latest.push_back(entries[parts.shape.rank(seat)].joined);
  for (const RingPass& pass : work.passes) {
    std::vector<Time> before;
    for (std::uint32_t step = 0; step < std::min(steps, pass.steps) && before != latest; ++step) {
      before = latest;
      for (std::uint32_t slot = pass.first; slot < pass.first + pass.slots; ++slot) {
        for (std::uint32_t seat = 0; seat < seats; ++seat)
          latest[seat] = std::max(latest[seat], before[parts.senders[parts.shape.way(slot, seat)]]);
      }
    }
    steps -= std::min(steps, pass.steps);
  }
  return latest;
}

/// Of the step behind so many.
void find_pass(RingStand& stand, const RingWork& work) {
  std::uint32_t steps = stand.steps;
  while (steps >= work.passes[stand.pass].steps) steps -= work.passes[stand.pass++].steps;
  stand.left = work.passes[stand.pass].steps - steps;
}

}  // namespace

RingStand stand_before(Time end, RingParts& parts, const RingWork& work, const std::vector<RingEntry>& entries) {
  RingStand stand;
  const AlikeSeats seats = alike_seats(parts, work, entries);
  stand.steps = steps_before(end, parts, work, entries, seats);
  if (stand.steps == 0) return stand;
  Leading leading(parts, work, entries, seats, stand.steps);
  Walk walk(parts, work, entries, seats);
  take_steps(walk, work, [&](std::uint32_t step) {
    if (step == stand.steps) return false;
    walk.step();
    walk.add_all();
    return true;
  });
  leading.follow();
  find_pass(stand, work);
  for (std::uint32_t seat = 0; seat < parts.shape.seats(); ++seat) stand.at.push_back(walk.at(seat));
  for (std::uint32_t slot = 0; slot < work.passes[stand.pass].slots; ++slot) {
    for (std::uint32_t seat = 0; seat < parts.shape.seats(); ++seat) stand.kinds.push_back(walk.kind(slot, seat));
  }
  stand.waited_until = waits(parts, work, entries, stand.steps);
  return stand;
}

}  // namespace tessera::sim
