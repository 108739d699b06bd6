// Whether members of groups do the same.
#include <algorithm>

#include "chunks.hpp"

namespace tessera::program {
namespace {

bool same_transfers(const std::vector<Transfer>& ours, const std::vector<Transfer>& theirs, std::uint32_t by,
                    std::uint32_t size) {
  return std::ranges::equal(ours, theirs, [&](const Transfer& a, const Transfer& b) {
    return b.peer == plus_modulo(a.peer, by, size) && a.bytes == b.bytes && a.lane == b.lane;
  });
}

bool same_steps(const CollectiveAlgorithm& algorithm, CollectiveCall a, CollectiveCall b, std::uint32_t by) {
  if (algorithm.strands(a) != algorithm.strands(b)) return false;
  Step ours, theirs;
  for (a.strand = b.strand = 0; a.strand < algorithm.strands(a); b.strand = ++a.strand) {
    if (algorithm.steps(a) != algorithm.steps(b)) return false;
    for (std::uint32_t index = 0; index < algorithm.steps(a); ++index) {
      algorithm.step_on_wire(a, index, ours);
      algorithm.step_on_wire(b, index, theirs);
      if (ours.reduce != theirs.reduce || ours.wait_sends != theirs.wait_sends || ours.pause != theirs.pause)
        return false;
      if (!same_transfers(ours.sends, theirs.sends, by, a.size)) return false;
      if (!same_transfers(ours.receives, theirs.receives, by, a.size)) return false;
    }
  }
  return true;
}

}  // namespace

std::optional<std::uint32_t> first_unlike(const CollectiveAlgorithm& algorithm, const CollectiveCall& call,
                                          const CollectiveCall& other, std::uint32_t by) {
  CollectiveCall a = call, b = other;
  for (a.rank = 0; a.rank < call.size; ++a.rank) {
    b.rank = plus_modulo(a.rank, by, call.size);
    if (!same_steps(algorithm, a, b, by)) return a.rank;
  }
  return std::nullopt;
}

bool CollectiveAlgorithm::is_alike(const CollectiveCall& call, const CollectiveCall& other, std::uint32_t by) const {
  return !first_unlike(*this, call, other, by);
}

}  // namespace tessera::program
