// Hosts: what [[machine.host]] says, and how they are linked to a machine.
#pragma once

#include <string>

#include "tessera/base/config.hpp"
#include "tessera/machine/machine.hpp"

namespace tessera::machine {

enum class HostOf { machine, node };

/// One [[machine.host]] table.
struct HostInput {
  std::string name;
  Bytes memory_capacity, memory_reserve;
  BytesPerSecond memory_bandwidth;
  BytesPerSecond bandwidth;         ///< of each of its links, per direction
  Duration latency;                 ///< from the host to an end
  BytesPerSecond bridge_bandwidth;  ///< of what all links share, per direction; 0: nothing
  HostOf each = HostOf::machine;
  config::Array links;  ///< nodes: names, or coordinates
};

[[nodiscard]] const config::Schema<HostInput>& host_schema();

/// Links the hosts of a [machine] table to a healthy machine.
void add_hosts(const config::Table& machine_table, Machine& machine, config::Diagnostics& diagnostics);
/// Adds the defaults that [[machine.host]] tables leave out.
void complete_hosts(config::Table& machine_table);

}  // namespace tessera::machine
