// Which devices a cut takes where there are more than it needs.
#pragma once

#include <algorithm>
#include <vector>

#include "tessera/machine/machine.hpp"
#include "tessera/program/program.hpp"

namespace tessera::strategy::megatron {

/// Of the devices that work, node by node as many as make whole tensor-parallel groups; of nodes that are smaller than
/// a group, those that are whole.
inline std::vector<program::DeviceId> tensor_groups(const machine::Machine& machine,
                                                    const std::vector<program::DeviceId>& working,
                                                    std::int64_t tensor) {
  const std::int64_t node_size = machine.devices_per_node;
  const std::int64_t part = std::min(tensor, node_size);
  std::vector<program::DeviceId> usable;
  for (auto first = working.begin(); first != working.end();) {
    const auto other_node = [&](program::DeviceId device) {
      return machine.places[device].node != machine.places[*first].node;
    };
    const auto end = std::find_if(first, working.end(), other_node);
    usable.insert(usable.end(), first, first + (end - first) / part * part);
    first = end;
  }
  return usable;
}

}  // namespace tessera::strategy::megatron
