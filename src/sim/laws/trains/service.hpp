// How a FIFO server works off the packets of one flow, in closed form and exact integers.
#pragma once

#include <cstdint>

#include "sim/network/busy_period.hpp"
#include "sim/network/packet_times.hpp"

namespace tessera::sim {

/// How the packets of one flow, served one after the other with no other between them, leave.
struct Service {
  /// The packets leave back to back within one busy period, or each has a busy period of its own (`paced` by its
  /// arrival). The last packet, when it is short, may differ: `after` and `rest` account for it.
  bool paced = false;
  bool last_apart = false;  ///< the last packet of `out` is the last one of the arrivals, with a time of its own
  BusyPeriod after;         ///< behind the last packet
  Time first_start = 0;     ///< of the first packet's service
  Time rest = 0;            ///< idle time between the last two packets
  PacketTimes out;          ///< when they leave; its rate is the server's, or the arrivals' when paced

  /// The server behind the first `packets` >= 1 of `out`; the arrivals must be those of serve().
  [[nodiscard]] BusyPeriod behind(std::uint32_t packets, const PacketTimes& arrivals, const Rate& arrival_rate,
                                  std::int64_t packet) const;
  /// Time in service.
  [[nodiscard]] Time busy(const Rate& server, const Rate& out_rate, std::int64_t packet) const;
};

/// Speeds and sizes of one server and its flow.
struct ServiceRates {
  Rate server;
  machine::LinkId server_link = 0;
  Rate arrivals;
  std::int64_t packet = 0;
};

/// Serves the first packets of `arrivals`, at most `limit` >= 1 and at least one: as many as one closed form provably
/// covers.
[[nodiscard]] Service serve(const BusyPeriod& before, const PacketTimes& arrivals, std::uint32_t limit,
                            const ServiceRates& rates);

/// Serves `packets` of an own message, each of which is offered when the one before has left; the first at `offered`.
/// `last_bytes`: of the last one.
[[nodiscard]] Service serve_own(const BusyPeriod& before, Time offered, std::uint32_t packets, std::int64_t last_bytes,
                                const ServiceRates& rates);

}  // namespace tessera::sim
