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
  /// one of its destinations takes, or a bound way, so that ranks wait for each other only where messages may go.
  Wiring(const NetworkTables& tables, const Destinations& destinations);
  /// Between what is simulated: what its devices send, wherever to. Nothing passes through devices that take no part,
  /// and no way is bound (laws/fold).
  Wiring(const NetworkTables& tables, const Destinations& destinations, const StandIn& stand_in);

  /// As the engine's model has them.
  [[nodiscard]] std::vector<pdes::LinkInfo> links() const;
  /// Whether messages of other devices pass through a device, from the routes between devices and their destinations
  /// and the bound ways.
  [[nodiscard]] bool may_pass(machine::NodeId device) const { return may_pass_[device]; }
  /// The OutPort of `from` that leads to `to`. Throws InternalError when it was not wired.
  [[nodiscard]] pdes::OutPort port(pdes::ComponentId from, pdes::ComponentId to) const;

 private:
  /// A connection.
  struct Way {
    pdes::ComponentId from = 0;
    pdes::ComponentId to = 0;
    Time latency = 0;
  };
  using Ways = std::vector<Way>;

  static void add_links_to_devices(const NetworkTables& tables, Ways& ways);
  void add_routes(const NetworkTables& tables, const Destinations& destinations, Ways& ways);
  void add_route(const NetworkTables& tables, const machine::Connection& connection, Ways& ways);
  static void add_simulated_route(const NetworkTables& tables, machine::NodeId from, machine::NodeId to,
                                  const StandIn& stand_in, Ways& ways);
  void keep(Ways&& ways, pdes::ComponentId components);

  // There may be one for each pair of devices, so what is kept of each is small.
  std::vector<pdes::ComponentId> to_;
  std::vector<std::uint32_t> latency_;  // in latencies_
  std::vector<Time> latencies_;         // each once
  std::vector<std::uint32_t> first_;    // of a component, in to_
  std::vector<bool> may_pass_;          // by device
};

}  // namespace tessera::sim
