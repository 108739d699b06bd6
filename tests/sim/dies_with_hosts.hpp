// Dies in a row with hosts behind them.
#pragma once

#include "machine/networks/grid_network.hpp"
#include "machine/networks/host_network.hpp"
#include "program_case.hpp"

namespace tessera::test {

/// So many dies at 1 GB/s (1,000 ps a byte) and 500 ps, packets of 100 B. Dies have 1 MB, hosts 2 MB, of which 100 kB
/// are not to be had.
inline machine::Machine dies_with_hosts(int dies, const std::vector<machine::HostShape>& hosts) {
  machine::Machine made;
  machine::build_grid({dies, 1, false}, BytesPerSecond{second / byte_time}, Duration{wire_latency}, "d2d", made);
  made.network.packet = Bytes{packet_bytes};
  machine::Machine machine = machine_of(made.network);
  machine.device_noun = "die";
  machine::DeviceSpec memory;
  memory.name = "host";
  memory.memory_capacity = Bytes{2'000'000};
  memory.memory_reserve = Bytes{100'000};
  memory.memory_bandwidth = BytesPerSecond{1'000'000'000};
  machine.host_kinds = {memory};
  machine::link_hosts(hosts, machine);
  return machine;
}

/// A host that is linked to these dies at 2 GB/s and 700 ps each, or over a bridge.
inline machine::HostShape host_at(const std::vector<machine::NodeId>& dies,
                                  std::optional<BytesPerSecond> bridge_bandwidth = {}) {
  return {0, std::nullopt, BytesPerSecond{2'000'000'000}, Duration{700}, dies, bridge_bandwidth};
}

}  // namespace tessera::test
