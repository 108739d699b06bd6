// Faults: what [[machine.fault]] says, and what it does to a machine.
#pragma once

#include <string>
#include <vector>

#include "tessera/base/config.hpp"
#include "tessera/machine/machine.hpp"

namespace tessera::machine {

/// One [[machine.fault]] table: what is concerned (exactly one of device, die, host, link, switch, or a share of all),
/// and what is wrong with it.
struct FaultSpec {
  std::int64_t device = 0;
  std::vector<std::int64_t> die;
  config::Array link;  ///< two ends: names, or coordinates
  std::string host, switch_name;
  std::string among;      ///< "devices" or "links": each of those that compute, or of the links among them, fails ...
  double rate = 0;        ///< ... with this probability,
  std::int64_t draw = 1;  ///< drawn once for each number here: what fails at a rate also fails at a higher one
  double bandwidth = 1;   ///< of a link, as a share of the healthy one
  double speed = 1;       ///< of a device
  bool dead = false;
  bool one_way = false;
};

[[nodiscard]] const config::Schema<FaultSpec>& fault_schema();

/// Applies the faults of a [machine] table: bandwidths, speeds, dead parts, and a router around these.
void apply_faults(const config::Table& machine_table, Machine& machine, config::Diagnostics& diagnostics);

}  // namespace tessera::machine
