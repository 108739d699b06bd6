// Rings whose members all do the same at the same time: a step is as long as the one before.
#include <algorithm>

#include "sim/laws/rings/ring_walk.hpp"

namespace tessera::sim {
namespace {

/// A pass in which all members do the same at the same time. Each goes on `every` picoseconds after what it posted.
struct EvenPass {
  std::uint32_t size = 0;
  Time every = 0, addition = 0;
};

/// Nothing where some members may differ in it.
std::optional<EvenPass> even_pass(const RingParts& parts, const RingWork& work, const RingPass& pass, Time begin) {
  const std::uint32_t kind = pass.kinds.front();
  if (pass.slots > 1 || !std::ranges::all_of(pass.kinds, [kind](std::uint32_t one) { return one == kind; })) return {};
  const std::uint32_t first = parts.shape.way(pass.first, 0);
  const WayFacts& facts = parts.ways[first].facts();
  EvenPass even;
  even.size = work.numbers[first * work.sizes.size() + kind];
  even.addition = pass.sums_up ? work.additions[work.addition_of(0, kind, 0)] : work.pause;
  for (std::uint32_t seat = 0; seat < parts.shape.seats(); ++seat) {
    const RingWay& path = parts.ways[first + seat];
    if (&path.facts() != &facts || path.clear_at() > begin || path.guests() > 0) return {};
    if (pass.sums_up && work.additions[work.addition_of(seat, kind, 0)] != even.addition) return {};
  }
  const Passage& lone = facts.lone(even.size);
  even.every = lone.delivered + even.addition;
  if (lone.delivered <= 0 || lone.clear > even.every) return {};
  return even;
}

}  // namespace

std::optional<std::vector<TakenEnd>> even_ends(RingParts& parts, const RingWork& work,
                                               const std::vector<RingEntry>& entries) {
  Time at = entries.front().at.time;
  if (!std::ranges::all_of(entries, [at](const RingEntry& entry) { return entry.at.time == at; })) return {};
  std::vector<EvenPass> passes;
  for (const RingPass& pass : work.passes) {
    const auto even = even_pass(parts, work, pass, at);
    if (!even) return {};
    passes.push_back(*even);
  }
  for (std::size_t i = 0; i < passes.size(); ++i) {
    const RingPass& pass = work.passes[i];
    for (std::uint32_t seat = 0; seat < parts.shape.seats(); ++seat)
      parts.ways[parts.shape.way(pass.first, seat)].send_in_turn(at, passes[i].size, pass.steps, passes[i].every);
    at += pass.steps * passes[i].every;
  }
  std::vector<TakenEnd> ends(entries.size());
  const std::uint32_t last = parts.shape.way(work.passes.back().first, 0);
  for (std::uint32_t seat = 0; seat < parts.shape.seats(); ++seat) {
    TakenEnd& end = ends[parts.shape.rank(seat)];
    end.at = std::max(end.at, Moment{at - passes.back().addition, parts.hops[last + seat]});
    end.clock = at;
  }
  return ends;
}

}  // namespace tessera::sim
