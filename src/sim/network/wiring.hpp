// Which network component may send to which: the links of the pdes model, from the routes that a program uses.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sim/network/network_tables.hpp"
#include "sim/network/stand_in.hpp"
#include "tessera/pdes/model.hpp"

namespace tessera::sim {

/// Appends the devices that `device` may send to; repeats do no harm.
using Destinations = std::function<void(machine::NodeId device, std::vector<machine::NodeId>& destinations)>;

/// The connections between components, in order of (from, to). The k-th one of a component is its OutPort k.
class Wiring {
 public:
  /// Links to devices are all wired; links to switches lead to those of their outputs that a route from some device to
  /// one of its destinations takes, so that ranks wait for each other only where messages may go.
  Wiring(const NetworkTables& tables, const Destinations& destinations);
  /// Between what is simulated: what its devices send, wherever to. Nothing passes through devices that take no part.
  Wiring(const NetworkTables& tables, const Destinations& destinations, const StandIn& stand_in);

  [[nodiscard]] const std::vector<pdes::LinkInfo>& links() const { return links_; }
  /// Whether messages of other devices pass through a device, from the routes between devices and their destinations.
  [[nodiscard]] bool may_pass(machine::NodeId device) const { return may_pass_[device]; }
  /// The OutPort of `from` that leads to `to`. Throws InternalError when it was not wired.
  [[nodiscard]] pdes::OutPort port(pdes::ComponentId from, pdes::ComponentId to) const;

 private:
  void add_links_to_devices(const NetworkTables& tables);
  void add_routes(const NetworkTables& tables, const Destinations& destinations);
  void add_route(const NetworkTables& tables, machine::NodeId from, machine::NodeId to);
  void add_simulated_route(const NetworkTables& tables, machine::NodeId from, machine::NodeId to,
                           const StandIn& stand_in);
  void sort_and_drop_repeats();
  void count_links(pdes::ComponentId components);

  std::vector<pdes::LinkInfo> links_;
  std::vector<std::uint32_t> first_;  // of a component, in links_
  std::vector<bool> may_pass_;        // by device
};

}  // namespace tessera::sim
