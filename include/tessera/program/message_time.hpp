// The closed form of one message on an idle network.
#pragma once

#include "tessera/machine/machine.hpp"
#include "tessera/machine/routes.hpp"

namespace tessera::program {

/// ps. A message over h links takes their latencies, its bytes on the slowest link, and a packet on each other one:
/// nodes store and forward. 0 to the device itself. Expects that there is a way. `ahead` bytes of other messages leave
/// the slowest link before it.
[[nodiscard]] double message_time(const machine::Routes& routes, const machine::Connection& connection, Bytes bytes,
                                  Bytes ahead = {});
/// ps: that, and what a message without bytes takes.
struct MessageTime {
  double whole = 0, latency = 0;
};
[[nodiscard]] MessageTime message_times(const machine::Routes& routes, const machine::Connection& connection,
                                        Bytes bytes, Bytes ahead = {});
/// message_time() on the machine's own way.
[[nodiscard]] double message_time(const machine::Machine& machine, machine::NodeId from, machine::NodeId to,
                                  Bytes bytes, Bytes ahead = {});

}  // namespace tessera::program
