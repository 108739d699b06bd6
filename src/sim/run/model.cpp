#include "sim/run/model.hpp"

#include <algorithm>
#include <string>

#include "sim/execution/destinations.hpp"

namespace tessera::sim {
namespace {

using machine::LinkId;
using machine::NodeId;

/// The device whose rank an output of a switch is on: where it leads to, or one that is near, in turn.
class Companions {
 public:
  explicit Companions(const machine::Network& network) : network_(&network), attached_(network.nodes()) {
    for (const machine::Link& link : network.links) {
      if (link.from < network.devices - network.hosts && link.to >= network.devices)
        attached_[link.to].push_back(link.from);
    }
  }

  [[nodiscard]] NodeId of(LinkId id) const {
    const machine::Link& link = network_->links[id];
    if (link.to < network_->devices) return link.to;
    const LinkId turn = id - network_->first_link[link.from];
    for (const NodeId near : {link.to, link.from}) {
      if (!attached_[near].empty()) return attached_[near][turn % attached_[near].size()];
    }
    return id % network_->devices;
  }

 private:
  const machine::Network* network_;
  std::vector<std::vector<NodeId>> attached_;  // devices with a link to a switch
};

bool takes_part(const program::Program& program, NodeId device) {
  return device < program.devices.size() && !program.devices[device].streams.empty();
}

/// Whether accelerators are numbered node by node. Then neighbours in number are mostly neighbours in the program as
/// well.
bool numbered_by_node(const machine::Machine& machine) {
  return std::is_sorted(machine.places.begin(), machine.places.begin() + machine.accelerators(),
                        [](const machine::DevicePlace& a, const machine::DevicePlace& b) { return a.node < b.node; });
}

std::function<std::string(pdes::ComponentId)> name_components(const machine::Machine& machine,
                                                              const NetworkModel& network) {
  return [&machine, &network](pdes::ComponentId id) {
    return network.tables.is_device(id) ? machine.node_name(id) : machine.link_name(network.tables.switch_link(id));
  };
}

int count_nodes(const machine::Machine& machine) {
  std::vector<int> nodes;
  for (const machine::DevicePlace& place : machine.places) nodes.push_back(place.node);
  std::sort(nodes.begin(), nodes.end());
  return static_cast<int>(std::unique(nodes.begin(), nodes.end()) - nodes.begin());
}

}  // namespace

NetworkModel::NetworkModel(const machine::Machine& machine, program::Lowerings& lowerings)
    : tables(machine.network, machine::BoundWays(lowerings.program().ways)),
      wiring(tables, destinations_of(lowerings)) {
  if (lowerings.program().memory_packet > 0) tables.tell_destinations_of_packets();
}
NetworkModel::NetworkModel(const machine::Machine& machine, program::Lowerings& lowerings, const StandIn& stand_in)
    : tables(machine.network), wiring(tables, destinations_of(lowerings), stand_in) {}

namespace {

/// The device whose rank a component is on.
std::vector<NodeId> companions_of(const machine::Machine& machine, const NetworkModel& network) {
  const Companions companions(machine.network);
  std::vector<NodeId> devices(network.tables.components());
  for (pdes::ComponentId id = 0; id < devices.size(); ++id)
    devices[id] = network.tables.is_device(id) ? id : companions.of(network.tables.switch_link(id));
  return devices;
}

/// Each device is on its own.
pdes::ModelGraph make_graph(const machine::Machine& machine, const program::Program& program,
                            const NetworkModel& network, const std::vector<NodeId>& devices,
                            const CreateComponent& create) {
  // Expected events of an idle device, of a host and of a switch output, compared with those of a device at work.
  constexpr float idle_weight = 0.02F;
  constexpr float host_weight = 0.1F;
  constexpr float switch_weight = 0.3F;
  pdes::ModelGraph graph;
  graph.components = network.tables.components();
  graph.links = network.wiring.links();
  graph.unconnected_allowed = true;
  graph.protocols = {pdes::protocol_info<NetworkProtocol>()};
  graph.groups = devices;
  for (pdes::ComponentId id = 0; id < graph.components; ++id) {
    const bool works = takes_part(program, devices[id]);
    graph.weights.push_back(!works                                 ? idle_weight
                            : !network.tables.is_device(id)        ? switch_weight
                            : machine.network.is_host(devices[id]) ? host_weight
                                                                   : 1.0F);
    const machine::DevicePlace& place = machine.places[devices[id]];
    const int grid = machine.grid.count > 1 ? place.node : 0;  // side by side
    if (machine.grid.columns > 0) graph.positions.emplace_back(place.x + grid * machine.grid.columns, place.y);
  }
  graph.name = name_components(machine, network);
  graph.create = create;
  return graph;
}

}  // namespace

PartitionedModel simulated_model(const machine::Machine& machine, const NetworkModel& network, const StandIn& stand_in,
                                 const CreateComponent& create) {
  PartitionedModel model;
  model.graph.components = network.tables.components();
  model.graph.links = network.wiring.links();
  model.graph.unconnected_allowed = true;
  model.graph.protocols = {pdes::protocol_info<NetworkProtocol>()};
  model.graph.name = name_components(machine, network);
  model.graph.create = create;
  for (pdes::ComponentId id = 0; id < model.graph.components; ++id)
    model.partition.rank_of.push_back(stand_in.is_simulated(id) ? 0 : pdes::Partition::nowhere);
  return model;
}

PartitionedModel partition_model(const machine::Machine& machine, const program::Program& program,
                                 const NetworkModel& network, int ranks, const std::string& kind,
                                 const CreateComponent& create) {
  // Messages inside a node are many and their latency is small, so a node is only cut when there are more ranks than
  // nodes. What may not be cut at all is refused on any number of ranks.
  const std::vector<NodeId> devices = companions_of(machine, network);
  PartitionedModel model{make_graph(machine, program, network, devices, create), {}};
  const int nodes = count_nodes(machine);
  if (nodes > 1 && ranks <= nodes) {
    static_cast<void>(pdes::make_partition(model.graph, 1, "block"));
    for (pdes::ComponentId id = 0; id < model.graph.components; ++id)
      model.graph.groups[id] = static_cast<pdes::ComponentId>(machine.places[devices[id]].node);
  }
  const bool blocks = kind == "auto" && machine.grid.columns == 0 && numbered_by_node(machine);
  model.partition = pdes::make_partition(model.graph, ranks, blocks ? "block" : kind);
  return model;
}

}  // namespace tessera::sim
