// One dimension of a mesh or torus: which links it has, and which way round is the shorter one.
#pragma once

namespace tessera::machine {

/// So many places one after another; wrap: the last one is linked to the first.
struct Dimension {
  int size = 1;
  bool wrap = false;

  /// Is there a link from place `i` upwards, or downwards? Two places that are joined have one link each way, not two.
  [[nodiscard]] bool has_link(int i, bool upwards) const {
    if (!wrap) return upwards ? i + 1 < size : i > 0;
    return size > 2 || (size == 2 && upwards == (i == 0));
  }
  /// Does the shorter way between two places lead upwards? On a tie it does.
  [[nodiscard]] bool goes_upwards(int from, int to) const {
    if (!wrap || size == 2) return to > from;
    const int up = (to - from + size) % size;
    return up <= size - up;
  }
  /// The place behind a link.
  [[nodiscard]] int next(int i, bool upwards) const { return (i + (upwards ? 1 : size - 1)) % size; }
};

}  // namespace tessera::machine
