// A machine and a program as a model of the engine: components, connections, weights, what must share a rank.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "sim/network/node.hpp"
#include "tessera/pdes/engine.hpp"
#include "tessera/program/collective.hpp"

namespace tessera::sim {

/// The network of a machine as far as a program uses it. Refers to the machine and the program.
struct NetworkModel {
  NetworkModel(const machine::Machine& machine, program::Lowerings& lowerings);
  /// As far as what is simulated uses it.
  NetworkModel(const machine::Machine& machine, program::Lowerings& lowerings, const StandIn& stand_in);
  NetworkTables tables;
  Wiring wiring;
};

using CreateComponent = std::function<std::unique_ptr<pdes::Component>(pdes::ComponentId)>;

/// The graph for that many ranks and its partition. Throws InputError as pdes::make_partition.
struct PartitionedModel {
  pdes::ModelGraph graph;
  pdes::Partition partition;
};
[[nodiscard]] PartitionedModel partition_model(const machine::Machine& machine, const program::Program& program,
                                               const NetworkModel& network, int ranks, const std::string& kind,
                                               const CreateComponent& create);
/// What is simulated for all, on one rank.
[[nodiscard]] PartitionedModel simulated_model(const machine::Machine& machine, const NetworkModel& network,
                                               const StandIn& stand_in, const CreateComponent& create);

}  // namespace tessera::sim
