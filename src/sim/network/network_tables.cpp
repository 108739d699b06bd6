#include "tessera/sim/network/network_tables.hpp"

#include <string>

#include "tessera/base/error.hpp"

namespace tessera::sim {

NetworkTables::NetworkTables(const machine::Network& network) : network_(&network) {
  rates_.reserve(network.links.size());
  for (const machine::Link& link : network.links) rates_.emplace_back(link.bandwidth);
  first_switch_link_ = network.first_link[network.devices];
  components_ = network.devices + static_cast<pdes::ComponentId>(network.links.size()) - first_switch_link_;
}

pdes::ComponentId NetworkTables::behind(machine::LinkId link, machine::NodeId destination) const {
  const machine::NodeId node = network_->links[link].to;
  if (is_device(node)) return node;
  const machine::LinkId next = network_->router->next(node, destination);
  if (next == machine::no_link) {
    throw InternalError("no way from node " + std::to_string(node) + " to device " + std::to_string(destination));
  }
  return server(next);
}

}  // namespace tessera::sim
