// Equation 3 in a solver: chips below one that must be used keep a node that can be on them.
#pragma once

#include <vector>

#include "chip_set.hpp"

namespace tessera::strategy::mcm {

/// For each chip how many nodes can be on it, and how many nowhere else. Is told of every change of a domain, both
/// ways.
class Support {
 public:
  explicit Support(std::uint32_t chips) : possible_(chips), fixed_(chips) {}

  /// Of that many nodes, whose domains are told next.
  void clear(std::uint32_t nodes) {
    std::fill(possible_.begin(), possible_.end(), 0);
    std::fill(fixed_.begin(), fixed_.end(), 0);
    open_ = ChipSet::range(0, static_cast<std::uint32_t>(possible_.size()) - 1);
    loose_ = nodes;
  }
  /// Nodes can be on a chip, and one no longer.
  void add(std::uint32_t chip, std::uint32_t nodes = 1) { possible_[chip] += nodes; }
  void drop(std::uint32_t chip) { --possible_[chip]; }
  /// A node has this chip left alone, and no longer.
  void fix(std::uint32_t chip) {
    --loose_;
    if (fixed_[chip]++ == 0) open_.erase(chip);
  }
  void loosen(std::uint32_t chip) {
    ++loose_;
    if (--fixed_[chip] == 0) open_.insert(chip);
  }

  enum class Want : std::uint8_t {
    nothing,  ///< of propagation
    node,     ///< `chip` has one node left to be on it, which is not fixed
    failure,  ///< a chip is out of reach, or nodes are too few
  };
  struct Wanted {
    Want what = Want::nothing;
    std::uint32_t chip = 0;
  };
  /// `top`: chips up to this one must be used.
  [[nodiscard]] Wanted wanted(std::uint32_t top) const {
    ChipSet wanting = open_ & ChipSet::range(0, top);
    if (wanting.empty()) return {};
    if (wanting.size() > loose_) return {Want::failure, 0};
    for (; !wanting.empty(); wanting.erase(wanting.first())) {
      const std::uint32_t chip = wanting.first();
      if (possible_[chip] <= 1) return {possible_[chip] == 0 ? Want::failure : Want::node, chip};
    }
    return {};
  }

 private:
  std::vector<std::uint32_t> possible_, fixed_;
  ChipSet open_;             // chips without a fixed node
  std::uint32_t loose_ = 0;  // nodes that are not fixed
};

}  // namespace tessera::strategy::mcm
