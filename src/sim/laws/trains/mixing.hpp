// How a FIFO server works off a device's own message among passing flows, in closed form and exact integers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/laws/trains/merging.hpp"

namespace tessera::sim {

/// A packet of each round, among those of the flows and the device's own.
struct MixedShare {
  static constexpr std::uint32_t own = ~std::uint32_t{0};
  std::uint32_t flow = own;
  PacketTimes turns;  ///< when it is its turn, round by round; one more than there are rounds
  PortTurn tie;       ///< of the flow, or the device; its time does not count
  PacketTimes out;    ///< when it leaves, round by round
};

/// Whole rounds of a server that is never idle: each passing flow sends as many packets as its spacing allows, and the
/// message, whose next packet is always offered when the one before has left, all others.
struct Mixed {
  BusyPeriod period;               ///< that of all packets
  std::vector<MixedShare> places;  ///< in order of their turns; empty: rounds cannot be proved to be alike
};

/// A device's own message, alone in line.
struct OfferedMessage {
  PortTurn turn;                   ///< of its next packet
  std::uint32_t packets_left = 0;  ///< the last one of them is left out
};

/// The flows are of the server's rate, `stride` is that of PacketRounds, and no packet is left of the one before.
/// PacketRounds end before `limit`, if there is one.
[[nodiscard]] Mixed mix(const BusyPeriod& before, std::span<const MergingFlow> flows, std::int64_t stride,
                        const OfferedMessage& message, const PortTurn* limit, const ServiceRates& rates);

}  // namespace tessera::sim
