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

}  // namespace

bool CollectiveAlgorithm::is_alike(const CollectiveCall& call, const CollectiveCall& other, std::uint32_t by) const {
  Step ours, theirs;
  CollectiveCall a = call, b = other;
  for (a.rank = 0; a.rank < call.size; ++a.rank) {
    b.rank = plus_modulo(a.rank, by, call.size);
    if (strands(a) != strands(b)) return false;
    for (a.strand = b.strand = 0; a.strand < strands(a); b.strand = ++a.strand) {
      if (steps(a) != steps(b)) return false;
      for (std::uint32_t index = 0; index < steps(a); ++index) {
        step(a, index, ours);
        step(b, index, theirs);
        if (ours.reduce != theirs.reduce || ours.wait_sends != theirs.wait_sends) return false;
        if (!same_transfers(ours.sends, theirs.sends, by, call.size)) return false;
        if (!same_transfers(ours.receives, theirs.receives, by, call.size)) return false;
      }
    }
  }
  return true;
}

}  // namespace tessera::program
