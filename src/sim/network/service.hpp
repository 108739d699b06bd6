// How a FIFO server works off the packets of one flow, in closed form and exact integers.
#pragma once

#include <cstdint>

#include "sim/network/law.hpp"

namespace tessera::sim {

/// A busy period of a server: packets leave at start + ceil(bytes since then / rate).
struct BusyPeriod {
  Time start = 0;
  std::int64_t bytes = 0;
  [[nodiscard]] Time end(const Rate& rate) const { return time_after(start, rate.up(bytes)); }
};

/// How the packets of one flow, served one after the other with no other between them, leave.
struct Service {
  /// The packets leave back to back within one busy period, or each has a busy period of its own (`paced` by its
  /// arrival). The last packet, when it is short, may differ: `after` and `rest` account for it.
  bool paced = false;
  bool last_apart = false;  ///< the last packet of `out` is the last one of the arrivals, with a time of its own
  BusyPeriod after;         ///< behind the last packet
  Time first_start = 0;     ///< of the first packet's service
  Time rest = 0;            ///< idle time between the last two packets
  Law out;                  ///< when they leave; its rate is the server's, or the arrivals' when paced

  /// The server behind the first `packets` >= 1 of `out`; the arrivals must be those of serve().
  [[nodiscard]] BusyPeriod behind(std::uint32_t packets, const Law& arrivals, const Rate& arrival_rate,
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

inline constexpr std::int64_t much_in_a_period = std::int64_t{1} << 61U;  ///< B: as much as the packets of a message

/// The same busy period with room for the bytes of any run. Fast links carry more than 2^63 B in the time that can be
/// simulated; whole multiples of what takes a whole number of picoseconds become time, which changes nothing.
[[nodiscard]] BusyPeriod with_room(const BusyPeriod& period, const Rate& rate);

/// Serves the first packets of `arrivals`, at most `limit` >= 1 and at least one: as many as one closed form provably
/// covers.
[[nodiscard]] Service serve(const BusyPeriod& before, const Law& arrivals, std::uint32_t limit,
                            const ServiceRates& rates);

/// Serves `packets` of an own message, each of which is offered when the one before has left; the first at `offered`.
/// `last_bytes`: of the last one.
[[nodiscard]] Service serve_own(const BusyPeriod& before, Time offered, std::uint32_t packets, std::int64_t last_bytes,
                                const ServiceRates& rates);

}  // namespace tessera::sim
