// How long redistributions take, by the million.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "../cuts/layouts.hpp"
#include "tessera/machine/link_loads.hpp"

namespace tessera::strategy::primepar {

/// What messages lay on the links, by pattern. Edges have most patterns in common.
class Burdens {
 public:
  /// `loads` outlives it.
  Burdens(machine::LinkLoads& loads, std::size_t devices) : loads_(&loads), patterns_(devices) {}
  [[nodiscard]] machine::LinkLoads& loads() { return *loads_; }
  [[nodiscard]] Patterns& patterns() { return patterns_; }
  /// Of messages of one byte; where they differ, of one byte a unit. Without a value: that is not known yet.
  [[nodiscard]] std::optional<machine::LinkLoads::Burden>& of(std::uint32_t pattern);

 private:
  machine::LinkLoads* loads_;
  Patterns patterns_;
  std::vector<std::optional<machine::LinkLoads::Burden>> known_;
};

/// Times of one direction of an edge. Pairs of layouts between which the same devices send to the same devices as many
/// bytes each load the links alike, and nearly every pair is like some other one.
class RedistributionTimes {
 public:
  /// `element` in B. `burdens`, of the patterns of the redistributions, outlives it.
  RedistributionTimes(Redistributions redistributions, std::int64_t element, Burdens& burdens)
      : redistributions_(std::move(redistributions)), element_(element), burdens_(&burdens) {}

  /// From one held layout to all needed ones, which are to have room there.
  void times(std::size_t held, Time* found);

 private:
  [[nodiscard]] Time time(std::size_t held, std::size_t needed, std::uint32_t number);
  [[nodiscard]] const machine::LinkLoads::Burden& burden(std::size_t held, std::size_t needed, std::uint32_t pattern,
                                                         std::int64_t unit);

  Redistributions redistributions_;
  std::int64_t element_;
  Burdens* burdens_;
  static constexpr Time unknown = -1;
  std::vector<Time> known_;  // by number of the pattern and size of what is needed
};

}  // namespace tessera::strategy::primepar
