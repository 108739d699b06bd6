// A binomial tree over `size` members, by rank relative to the root: the parent of r is r without its lowest set bit.
// Each member sends to its largest subtree first and to the next one when that message has left.
#pragma once

#include <algorithm>
#include <bit>

#include "chunks.hpp"

namespace tessera::program {

struct TreePlace {
  std::uint32_t relative = 0;  ///< rank relative to the root
  std::uint32_t size = 1;

  [[nodiscard]] bool is_root() const { return relative == 0; }
  [[nodiscard]] std::uint32_t parent() const { return relative & (relative - 1); }
  /// Children are relative + 1, + 2, + 4, ... below the lowest set bit of `relative` and inside the group.
  [[nodiscard]] std::uint32_t children() const {
    const std::uint32_t inside = size - relative;
    const std::uint32_t below = is_root() ? inside : std::min(inside, relative & (~relative + 1));
    return static_cast<std::uint32_t>(std::bit_width(below - 1));
  }
  [[nodiscard]] std::uint32_t child(std::uint32_t i) const { return relative + (1U << i); }
};

/// Steps of a member in a broadcast from the root.
inline std::uint32_t tree_broadcast_steps(const TreePlace& at) { return (at.is_root() ? 0 : 1) + at.children(); }

/// Step `index` of a broadcast; `rank_of` turns a relative rank into a rank in the group.
template <class RankOf>
void tree_broadcast(const TreePlace& at, std::uint32_t index, const Data& data, const RankOf& rank_of, Step& step) {
  if (!at.is_root()) {
    if (index == 0) return add_receive(step, rank_of(at.parent()), data);
    --index;
  }
  add_send(step, rank_of(at.child(at.children() - 1 - index)), data);
  step.wait_sends = true;
}

}  // namespace tessera::program
