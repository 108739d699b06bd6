// What all network components of a rank share: speeds and numbering, computed once from the machine.
#pragma once

#include <cstdint>
#include <vector>

#include "tessera/machine/machine.hpp"
#include "tessera/pdes/event.hpp"
#include "tessera/sim/network/rate.hpp"

namespace tessera::sim {

/// Components: the devices, then the output links of the switches in order of link.
class NetworkTables {
 public:
  explicit NetworkTables(const machine::Network& network);

  [[nodiscard]] const machine::Network& network() const { return *network_; }
  [[nodiscard]] std::int64_t packet() const { return network_->packet; }
  [[nodiscard]] const Rate& rate(machine::LinkId link) const { return rates_[link]; }
  [[nodiscard]] const machine::Link& link(machine::LinkId link) const { return network_->links[link]; }

  [[nodiscard]] pdes::ComponentId components() const { return components_; }
  [[nodiscard]] bool is_device(machine::NodeId node) const { return node < network_->devices; }
  /// The component that serves a link: the device that it starts at, or the switch output itself.
  [[nodiscard]] pdes::ComponentId server(machine::LinkId link) const {
    return link < first_switch_link_ ? network_->links[link].from : network_->devices + (link - first_switch_link_);
  }
  /// The link that a component >= devices serves.
  [[nodiscard]] machine::LinkId switch_link(pdes::ComponentId component) const {
    return first_switch_link_ + (component - network_->devices);
  }
  /// The component at which what was sent over `link` arrives on its way to device `destination`.
  /// Throws InternalError when there is no way.
  [[nodiscard]] pdes::ComponentId behind(machine::LinkId link, machine::NodeId destination) const;

 private:
  const machine::Network* network_;
  std::vector<Rate> rates_;
  machine::LinkId first_switch_link_ = 0;
  pdes::ComponentId components_ = 0;
};

}  // namespace tessera::sim
