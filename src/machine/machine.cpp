#include "tessera/machine/machine.hpp"

#include <cmath>

#include "tessera/base/config.hpp"

namespace tessera::machine {

Time slowed(Time time, double speed) {
  if (speed == 1) return time;
  const double longer = std::ceil(static_cast<double>(time) / speed);
  return longer < static_cast<double>(latest) ? static_cast<Time>(longer) : never;
}

std::string memory_text(const DeviceSpec& device) {
  const std::string usable = config::format_rounded(device.usable_memory());
  if (device.memory_reserve == Bytes{0}) return usable;
  return usable + " (" + config::format_rounded(device.memory_capacity) + " less a reserve of " +
         config::format_rounded(device.memory_reserve) + ")";
}

std::string Machine::node_name(NodeId node) const {
  if (node >= network.devices) return network.switch_names.at(node - network.devices);
  if (!computes(node)) return spec(node).name + " " + std::to_string(node - accelerators());
  if (grid.columns > 0) {
    const DevicePlace& place = places.at(node);
    const std::string z = grid.stacked ? "," + std::to_string(place.node) : "";
    const std::string at = device_noun + " (" + std::to_string(place.x) + "," + std::to_string(place.y) + z + ")";
    return grid.count == 1 || grid.stacked ? at : at + " of " + node_noun + " " + std::to_string(place.node);
  }
  return device_noun + " " + std::to_string(node);
}

std::string Machine::link_name(LinkId link) const {
  const Link& it = network.links.at(link);
  return node_name(it.from) + " to " + node_name(it.to);
}

}  // namespace tessera::machine
