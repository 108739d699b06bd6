// How long redistributions take, by the million.
#pragma once

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

  /// From one held layout to all needed ones.
  [[nodiscard]] std::vector<Time> times(std::size_t held);

 private:
  struct Known {
    machine::LinkLoads::Burden of_one_byte;
    std::vector<std::pair<std::int64_t, Time>> times;  ///< by bytes of a message
  };
  [[nodiscard]] Time uneven(std::size_t held, std::size_t needed, const Senders& senders);
  [[nodiscard]] Known& known(std::uint32_t senders);

  Redistributions redistributions_;
  std::int64_t element_;
  machine::LinkLoads* loads_;
  std::vector<Known> known_;  // by number of senders
};

}  // namespace tessera::strategy::primepar
