// What is taken to what by a shift: components, or links.
#pragma once

#include <cstdint>
#include <vector>

namespace tessera::sim {

/// Numbers in orbits of the same length: a shift takes each to the next one of its orbit, the last to the first.
class Orbits {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  Orbits(std::size_t numbers, std::uint32_t order) : order_(order), entries_(numbers) {}

  [[nodiscard]] bool has(std::uint32_t number) const { return entries_[number].orbit != none; }
  /// Of one that has an orbit: its place there.
  [[nodiscard]] std::uint32_t shifts(std::uint32_t number) const { return entries_[number].shifts; }
  [[nodiscard]] std::uint32_t shifted(std::uint32_t number, std::uint32_t times) const {
    const auto [orbit, shifts] = entries_[number];
    return orbits_[std::size_t{orbit} * order_ + (shifts + times) % order_];
  }
  /// `other` is `first`, shifted so many times; `shifts`: the place of `first`, if it has no orbit yet. False: that
  /// contradicts what is known.
  [[nodiscard]] bool add(std::uint32_t first, std::uint32_t other, std::uint32_t times, std::uint32_t shifts) {
    if (!has(first)) {
      entries_[first] = {static_cast<std::uint32_t>(orbits_.size() / order_), shifts};
      orbits_.insert(orbits_.end(), order_, none);
      known(first, 0) = first;
    }
    std::uint32_t& there = known(first, times);
    if (there == none && !has(other)) {
      there = other;
      entries_[other] = {entries_[first].orbit, (entries_[first].shifts + times) % order_};
    }
    return there == other;
  }

 private:
  struct Entry {
    std::uint32_t orbit = none;
    std::uint32_t shifts = 0;
  };
  [[nodiscard]] std::uint32_t& known(std::uint32_t number, std::uint32_t times) {
    const auto [orbit, shifts] = entries_[number];
    return orbits_[std::size_t{orbit} * order_ + (shifts + times) % order_];
  }

  std::uint32_t order_;
  std::vector<Entry> entries_;         // by number
  std::vector<std::uint32_t> orbits_;  // order_ each, by shifts; none: not known
};

}  // namespace tessera::sim
