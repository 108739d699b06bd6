#include "sim/network/network_tables.hpp"

#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>

#include "tessera/base/error.hpp"

namespace tessera::sim {

NetworkTables::NetworkTables(const machine::Network& network, machine::BoundWays ways)
    : network_(&network), ways_(std::move(ways)), by_packet_(network.packet.value()) {
  std::map<std::int64_t, std::uint32_t> known;
  rate_of_link_.reserve(network.links.size());
  for (const machine::Link& link : network.links) {
    const auto [found, added] = known.try_emplace(link.bandwidth.value(), static_cast<std::uint32_t>(rates_.size()));
    if (added) rates_.emplace_back(link.bandwidth.value());
    rate_of_link_.push_back(found->second);
  }
  first_switch_link_ = network.first_link[network.devices];
  components_ = network.devices + static_cast<pdes::ComponentId>(network.links.size()) - first_switch_link_;
}

void NetworkTables::refuse_packets(std::int64_t bytes) const {
  throw InputError(
      fmt::format("a message of {} B in packets of {} B would be more than {} packets: make packets larger", bytes,
                  packet(), most_packets));
}

pdes::ComponentId NetworkTables::behind(machine::LinkId link, const machine::Connection& connection) const {
  const machine::NodeId node = network_->links[link].to;
  if (is_device(node)) return node;
  const machine::LinkId next = routes().next(link, connection);
  if (next == machine::no_link) {
    throw InternalError("no way from node " + std::to_string(node) + " to device " + std::to_string(connection.to));
  }
  return server(next);
}

}  // namespace tessera::sim
