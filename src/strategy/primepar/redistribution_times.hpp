// How long redistributions take, by the million.
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "layouts.hpp"
#include "tessera/machine/link_loads.hpp"

namespace tessera::strategy::primepar {

/// Times of one direction of an edge. Pairs of layouts between which the same devices send to the same devices as many
/// bytes each load the links alike, and nearly every pair is like some other one.
class RedistributionTimes {
 public:
  /// `element` in B. `loads` outlives it.
  RedistributionTimes(Redistributions redistributions, std::int64_t element, machine::LinkLoads& loads)
      : redistributions_(std::move(redistributions)), element_(element), loads_(&loads) {}

  /// From one held layout to all needed ones, which are to have room there.
  void times(std::size_t held, Time* found);

 private:
  struct Timed {
    std::int64_t bytes = -1;  ///< of a message
    Time time = 0;
  };
  struct Known {
    machine::LinkLoads::Burden of_one_byte;
    std::vector<Timed> times;
  };
  [[nodiscard]] Time uneven(std::size_t held, std::size_t needed, const Senders& senders);
  [[nodiscard]] static std::size_t size_of(std::int64_t bytes) {
    return static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(bytes))) % sizes;
  }
  [[nodiscard]] Time even(std::uint32_t senders, std::int64_t bytes);
  [[nodiscard]] Known& known(std::uint32_t senders);

  Redistributions redistributions_;
  std::int64_t element_;
  machine::LinkLoads* loads_;
  std::vector<Known> known_;  // by number of senders
  // By that, and by the logarithm of the bytes: what was asked for last.
  static constexpr std::size_t sizes = 8;
  std::vector<std::array<Timed, sizes>> last_;
};

}  // namespace tessera::strategy::primepar
