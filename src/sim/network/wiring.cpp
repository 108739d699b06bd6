#include "sim/network/wiring.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "sim/network/messages.hpp"
#include "tessera/base/error.hpp"

namespace tessera::sim {

namespace {

// Of parallel links between the same two components, the one with the smallest latency stays.
template <class Ways>
void sort_and_drop_repeats(Ways& ways) {
  std::sort(ways.begin(), ways.end(), [](const auto& a, const auto& b) {
    return std::tie(a.from, a.to, a.latency) < std::tie(b.from, b.to, b.latency);
  });
  const auto same = [](const auto& a, const auto& b) { return a.from == b.from && a.to == b.to; };
  ways.erase(std::unique(ways.begin(), ways.end(), same), ways.end());
}

}  // namespace

Wiring::Wiring(const NetworkTables& tables, const Destinations& destinations) {
  Ways ways;
  add_links_to_devices(tables, ways);
  may_pass_.assign(tables.network().devices, false);
  add_routes(tables, destinations, ways);
  keep(std::move(ways), tables.components());
}

Wiring::Wiring(const NetworkTables& tables, const Destinations& destinations, const StandIn& stand_in) {
  may_pass_.assign(tables.network().devices, false);
  Ways ways;
  std::vector<machine::NodeId> to;
  for (const machine::NodeId device : stand_in.devices()) {
    to.clear();
    destinations(device, to);
    for (const machine::NodeId destination : to) add_simulated_route(tables, device, destination, stand_in, ways);
  }
  keep(std::move(ways), tables.components());
}

void Wiring::add_simulated_route(const NetworkTables& tables, machine::NodeId from, machine::NodeId to,
                                 const StandIn& stand_in, Ways& ways) {
  const machine::Network& network = tables.network();
  const machine::Connection connection{from, to};
  tables.routes().for_each_link(connection, [&](machine::LinkId link) {
    const pdes::ComponentId behind = tables.behind(link, connection);
    ways.push_back(
        {stand_in.place(tables.server(link)).of, stand_in.place(behind).of, network.links[link].latency.value()});
  });
}

void Wiring::keep(Ways&& ways, pdes::ComponentId components) {
  sort_and_drop_repeats(ways);
  first_.assign(components + 1, 0);
  to_.reserve(ways.size());
  latency_.reserve(ways.size());
  std::map<Time, std::uint32_t> known;
  for (const Way& way : ways) {
    ++first_[way.from + 1];
    to_.push_back(way.to);
    const auto [found, added] = known.try_emplace(way.latency, static_cast<std::uint32_t>(latencies_.size()));
    if (added) latencies_.push_back(way.latency);
    latency_.push_back(found->second);
  }
  for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
}

std::vector<pdes::LinkInfo> Wiring::links() const {
  std::vector<pdes::LinkInfo> links;
  links.reserve(to_.size());
  for (pdes::ComponentId from = 0; from + 1 < first_.size(); ++from) {
    for (std::uint32_t i = first_[from]; i < first_[from + 1]; ++i)
      links.push_back({from, to_[i], latencies_[latency_[i]], pdes::protocol_info<NetworkProtocol>()});
  }
  return links;
}

void Wiring::add_links_to_devices(const NetworkTables& tables, Ways& ways) {
  const auto& links = tables.network().links;
  for (machine::LinkId id = 0; id < links.size(); ++id) {
    if (links[id].dead || !tables.is_device(links[id].to)) continue;
    ways.push_back({tables.server(id), links[id].to, links[id].latency.value()});
  }
}

void Wiring::add_routes(const NetworkTables& tables, const Destinations& destinations, Ways& ways) {
  std::vector<machine::NodeId> to;
  std::size_t settled = ways.size();
  for (machine::NodeId device = 0; device < tables.network().devices; ++device) {
    to.clear();
    destinations(device, to);
    std::sort(to.begin(), to.end());
    to.erase(std::unique(to.begin(), to.end()), to.end());
    for (const machine::NodeId destination : to) add_route(tables, {device, destination}, ways);
    if (ways.size() < 2 * settled + 1'000'000) continue;
    sort_and_drop_repeats(ways);
    settled = ways.size();
  }
  for (const machine::BoundWay& way : tables.bound_ways().all()) add_route(tables, way.connection, ways);
}

void Wiring::add_route(const NetworkTables& tables, const machine::Connection& connection, Ways& ways) {
  const machine::Network& network = tables.network();
  machine::LinkId before = machine::no_link;
  tables.routes().for_each_link(connection, [&](machine::LinkId link) {
    const machine::LinkId last = std::exchange(before, link);
    if (last == machine::no_link) return;
    const machine::Link& passed = network.links[last];
    if (tables.is_device(passed.to)) {
      may_pass_[passed.to] = true;
    } else {
      ways.push_back({tables.server(last), tables.server(link), passed.latency.value()});
    }
  });
}

pdes::OutPort Wiring::port(pdes::ComponentId from, pdes::ComponentId to) const {
  const auto begin = to_.begin() + first_[from];
  const auto end = to_.begin() + first_[from + 1];
  const auto found = std::lower_bound(begin, end, to);
  if (found == end || *found != to) {
    throw InternalError("component " + std::to_string(from) + " has no link to " + std::to_string(to));
  }
  return {static_cast<std::uint32_t>(found - begin)};
}

}  // namespace tessera::sim
