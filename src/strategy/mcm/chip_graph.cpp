#include "chip_graph.hpp"

#include <algorithm>

namespace tessera::strategy::mcm {

void ChipGraph::clear() { std::fill(readers_.begin(), readers_.end(), ChipSet()); }

bool ChipGraph::close() {
  bool is_reduced = true;
  for (std::uint32_t chip = chips_; chip-- > 0;) {
    ChipSet beyond;
    readers_[chip].for_each([&](std::uint32_t reader) { beyond = beyond | readers_[reader] | beyond_[reader]; });
    beyond_[chip] = beyond;
    is_reduced = is_reduced && (beyond & readers_[chip]).empty();
  }
  return is_reduced;
}

bool is_solved(const Wiring& wiring, const Partition& partition, ChipGraph& scratch) {
  if (partition.size() != wiring.nodes) return false;
  scratch.clear();
  ChipSet used;
  for (Place place = 0; place < wiring.nodes; ++place) {
    const ChipId chip = partition[wiring.order[place]];
    if (chip >= wiring.chips) return false;
    used.insert(chip);
    for (const Place reader : wiring.readers[place]) {
      const ChipId to = partition[wiring.order[reader]];
      if (to >= wiring.chips || to < chip) return false;
      if (to > chip) scratch.connect(chip, to);
    }
  }
  return used.size() == used.last() + 1 && scratch.close();
}

}  // namespace tessera::strategy::mcm
