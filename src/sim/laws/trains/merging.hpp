// How a FIFO server works off several flows whose packets come in turn, in closed form and exact integers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/laws/trains/packet_rounds.hpp"
#include "sim/laws/trains/service.hpp"
#include "sim/network/port.hpp"

namespace tessera::sim {

/// What a server knows of one flow.
struct MergingFlow {
  std::uint32_t stream = 0;  ///< the caller's number
  PacketTimes arrivals;
  PortTurn turn;  ///< of the next packet
};

/// Of a flow, every how many-th packet, when they leave. A flow has as many shares as it sends packets in a round.
struct MergedShare {
  std::uint32_t flow = 0;
  bool ends = false;  ///< with the last packet of the flow
  PacketTimes out;    ///< void where it has no packets
};

/// A packet at a time of its own.
struct SinglePacket {
  std::uint32_t share = 0;  ///< the last one of which it is
  PortTurn turn;            ///< with its arrival
  std::int64_t bytes = 0;
  BusyPeriod behind;  ///< the server behind it
};

/// The packets that are served together, and the server behind them.
struct Merged {
  std::vector<MergedShare> shares;  ///< by flow, then by the first packet; which there are depends on the flows alone
  std::vector<std::uint32_t> packets;  ///< by flow
  BusyPeriod after;
  Time last = 0;       ///< when the last packet leaves
  Time busy = 0;       ///< time in service
  PortTurn last_turn;  ///< of the last packet
  std::uint32_t rounds_without_pause = 0;
  std::int64_t burst_queue = 0;       ///< B that wait at most in rounds with pauses, each burst for itself
  std::vector<SinglePacket> singles;  ///< behind the rounds, in order
};

/// Serves the first packets of the flows, which PacketRounds has taken in: as many whole rounds as provably keep their
/// order and leave by one closed form a share, before any single packet; then at most one more packet a share, at a
/// time of its own. Only packets whose turn is before `limit`, if there is one. No packet where the first one takes no
/// whole picosecond. With an earlier limit, all of these packets that come before it are served, at the same times.
[[nodiscard]] Merged merge(const BusyPeriod& before, std::span<const MergingFlow> flows, std::int64_t stride,
                           const PortTurn* limit, const ServiceRates& rates);

}  // namespace tessera::sim
