// Lists of devices as scripts write them.
#pragma once

#include <optional>
#include <vector>

#include "tessera/base/config.hpp"
#include "tessera/program/program.hpp"

namespace tessera::strategy::script {

using Devices = std::vector<program::DeviceId>;

/// Devices that compute and are not dead.
[[nodiscard]] Devices live_devices(const machine::Machine& machine);

/// "all" (that compute), "hosts", "0-7", "0-3, 8-11", "0-63/8" or a list of numbers, in the order written; hosts have
/// the numbers behind those of the devices that compute. Reports what is no list, devices
/// that the machine does not have, and repetitions; nothing then.
[[nodiscard]] std::optional<Devices> read_devices(const config::Value& value, const machine::Machine& machine,
                                                  config::Diagnostics& diagnostics);

}  // namespace tessera::strategy::script
