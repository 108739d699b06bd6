#include "sim/network/wiring.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "sim/network/messages.hpp"
#include "tessera/base/error.hpp"

namespace tessera::sim {

Wiring::Wiring(const NetworkTables& tables, const Destinations& destinations) {
  add_links_to_devices(tables);
  may_pass_.assign(tables.network().devices, false);
  add_routes(tables, destinations);
  sort_and_drop_repeats();
  count_links(tables.components());
}

Wiring::Wiring(const NetworkTables& tables, const Destinations& destinations, const StandIn& stand_in) {
  may_pass_.assign(tables.network().devices, false);
  std::vector<machine::NodeId> to;
  for (const machine::NodeId device : stand_in.devices()) {
    to.clear();
    destinations(device, to);
    for (const machine::NodeId destination : to) add_simulated_route(tables, device, destination, stand_in);
  }
  sort_and_drop_repeats();
  count_links(tables.components());
}

void Wiring::add_simulated_route(const NetworkTables& tables, machine::NodeId from, machine::NodeId to,
                                 const StandIn& stand_in) {
  const machine::Network& network = tables.network();
  tables.routes().for_each_link(from, to, [&](machine::LinkId link) {
    const pdes::ComponentId behind = tables.behind(link, to);
    links_.push_back({stand_in.place(tables.server(link)).of, stand_in.place(behind).of,
                      network.links[link].latency.value(), pdes::protocol_info<NetworkProtocol>()});
  });
}

void Wiring::count_links(pdes::ComponentId components) {
  first_.assign(components + 1, 0);
  for (const pdes::LinkInfo& link : links_) ++first_[link.from + 1];
  for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
}

void Wiring::add_links_to_devices(const NetworkTables& tables) {
  const auto& links = tables.network().links;
  for (machine::LinkId id = 0; id < links.size(); ++id) {
    if (links[id].dead || !tables.is_device(links[id].to)) continue;
    links_.push_back(
        {tables.server(id), links[id].to, links[id].latency.value(), pdes::protocol_info<NetworkProtocol>()});
  }
}

void Wiring::add_routes(const NetworkTables& tables, const Destinations& destinations) {
  std::vector<machine::NodeId> to;
  std::size_t settled = links_.size();
  for (machine::NodeId device = 0; device < tables.network().devices; ++device) {
    to.clear();
    destinations(device, to);
    std::sort(to.begin(), to.end());
    to.erase(std::unique(to.begin(), to.end()), to.end());
    for (const machine::NodeId destination : to) add_route(tables, device, destination);
    if (links_.size() < 2 * settled + 1'000'000) continue;
    sort_and_drop_repeats();
    settled = links_.size();
  }
}

void Wiring::add_route(const NetworkTables& tables, machine::NodeId from, machine::NodeId to) {
  const machine::Network& network = tables.network();
  machine::LinkId before = machine::no_link;
  tables.routes().for_each_link(from, to, [&](machine::LinkId link) {
    const machine::LinkId last = std::exchange(before, link);
    if (last == machine::no_link) return;
    const machine::Link& passed = network.links[last];
    if (tables.is_device(passed.to)) {
      may_pass_[passed.to] = true;
    } else {
      links_.push_back(
          {tables.server(last), tables.server(link), passed.latency.value(), pdes::protocol_info<NetworkProtocol>()});
    }
  });
}

// Of parallel links between the same two components, the one with the smallest latency stays.
void Wiring::sort_and_drop_repeats() {
  std::sort(links_.begin(), links_.end(), [](const pdes::LinkInfo& a, const pdes::LinkInfo& b) {
    return std::tie(a.from, a.to, a.latency) < std::tie(b.from, b.to, b.latency);
  });
  const auto same = [](const pdes::LinkInfo& a, const pdes::LinkInfo& b) { return a.from == b.from && a.to == b.to; };
  links_.erase(std::unique(links_.begin(), links_.end(), same), links_.end());
  links_.shrink_to_fit();
}

pdes::OutPort Wiring::port(pdes::ComponentId from, pdes::ComponentId to) const {
  const auto begin = links_.begin() + first_[from];
  const auto end = links_.begin() + first_[from + 1];
  const auto found =
      std::lower_bound(begin, end, to, [](const pdes::LinkInfo& link, pdes::ComponentId id) { return link.to < id; });
  if (found == end || found->to != to) {
    throw InternalError("component " + std::to_string(from) + " has no link to " + std::to_string(to));
  }
  return {static_cast<std::uint32_t>(found - begin)};
}

}  // namespace tessera::sim
