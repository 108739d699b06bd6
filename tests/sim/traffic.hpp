// Networks and traffic for tests, and the traffic run on the components of src/sim.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "packet_reference.hpp"
#include "tessera/base/comm.hpp"
#include "tessera/machine/network_builder.hpp"
#include "tessera/pdes/engine.hpp"

namespace tessera::test {

/// Shortest ways by number of hops, the first link first. For networks that are put together by hand.
[[nodiscard]] std::shared_ptr<const machine::Router> shortest_ways(const machine::Network& network);

/// The network with its router; `packet` in bytes.
[[nodiscard]] machine::Network finish_network(machine::NetworkBuilder& builder, std::int64_t packet);

/// A one-way chain of devices 0 -> 1 -> ... with one bandwidth and latency a link.
[[nodiscard]] machine::Network chain(const std::vector<std::int64_t>& bandwidths, Time latency, std::int64_t packet);

struct TrafficRun {
  TrafficResult result;  ///< of this rank's components; -1 and empty for others
  std::uint64_t events = 0;
};
/// Runs messages on the components of src/sim on the ranks of `comm`; with `separate_packets` on plain
/// servers (sim::PacketPort), without trains. `ways`: of connections that do not take the network's own.
[[nodiscard]] TrafficRun run_traffic(const machine::Network& network, const std::vector<TestMessage>& messages,
                                     Communicator& comm, const std::string& synchroniser = "window",
                                     bool separate_packets = false, const std::vector<machine::BoundWay>& ways = {});
[[nodiscard]] TrafficRun run_traffic(const machine::Network& network, const std::vector<TestMessage>& messages,
                                     bool separate_packets = false, const std::vector<machine::BoundWay>& ways = {});

}  // namespace tessera::test
