// The graph of chips that a partition makes: which chips feed which. A partition's flow is valid when this graph is its
// own transitive reduction (Equation 4 said otherwise: no edge beside a longer path).
#pragma once

#include <vector>

#include "chip_set.hpp"
#include "wiring.hpp"

namespace tessera::strategy::mcm {

class ChipGraph {
 public:
  explicit ChipGraph(std::uint32_t chips) : chips_(chips), readers_(chips), beyond_(chips) {}

  void clear();
  /// from < to.
  void connect(std::uint32_t from, std::uint32_t to) { readers_[from].insert(to); }
  /// Finds what chips reach; false where an edge stands beside a longer path.
  bool close();
  /// After close(): those that a chip feeds, and those that it reaches over at least one other chip.
  [[nodiscard]] const ChipSet& readers(std::uint32_t chip) const { return readers_[chip]; }
  [[nodiscard]] const ChipSet& beyond(std::uint32_t chip) const { return beyond_[chip]; }

 private:
  std::uint32_t chips_;
  std::vector<ChipSet> readers_, beyond_;
};

/// Equations 2 to 4, as the solver sees them: FIX has nothing to do. False, too, for chips and sizes that do not fit.
[[nodiscard]] bool is_solved(const Wiring& wiring, const Partition& partition, ChipGraph& scratch);

}  // namespace tessera::strategy::mcm
