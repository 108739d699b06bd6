// Faults: what [[machine.fault]] says, and what it does to a machine.
#pragma once

#include <string>
#include <vector>

#include "tessera/base/config.hpp"
#include "tessera/machine/machine.hpp"

namespace tessera::machine {

/// One [[machine.fault]] table: what is concerned (exactly one of device, die, host, link, switch), and what is wrong
/// with it.
struct FaultSpec {
  std::int64_t device = 0;
  std::vector<std::int64_t> die;
  config::Array link;  ///< two ends: names, or coordinates
  std::string host, switch_name;
  double bandwidth = 1;  ///< of a link, as a share of the healthy one
  double speed = 1;      ///< of a device
  bool dead = false;
  bool one_way = false;
};

[[nodiscard]] const config::Schema<FaultSpec>& fault_schema();

/// Applies the faults of a [machine] table: bandwidths, speeds, dead parts, and a router around these.
void apply_faults(const config::Table& machine_table, Machine& machine, config::Diagnostics& diagnostics);

}  // namespace tessera::machine
