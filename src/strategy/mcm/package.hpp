// A graph and the chips that it is cut over: what evaluators and searches know.
#pragma once

#include <cstdint>
#include <vector>

#include "problem.hpp"
#include "replication.hpp"
#include "tessera/base/time.hpp"
#include "tessera/program/program.hpp"
#include "tessera/strategy/strategy.hpp"
#include "tessera/workload/graph.hpp"

namespace tessera::strategy::mcm {

/// A tensor of the graph by who makes and who reads it.
struct TensorUse {
  static constexpr workload::GraphNodeId no_node = ~workload::GraphNodeId{0};
  workload::GraphNodeId maker = no_node;       ///< no_node: it is there from the start
  std::vector<workload::GraphNodeId> readers;  ///< none twice
};

struct Package {
  workload::Graph graph;
  Reduced reduced;                           ///< the problem that is solved, and what is replicated
  std::vector<workload::GraphNodeId> order;  ///< topological
  std::vector<TensorUse> uses;               ///< by tensor
  std::vector<Time> times;                   ///< by node of the graph, on a chip at normal speed
  std::vector<program::DeviceId> devices;    ///< by chip
  std::vector<double> speeds;                ///< by chip
  std::int64_t memory = 0;                   ///< B of a chip

  [[nodiscard]] std::uint32_t chips() const { return reduced.problem.chips; }
};

/// A chip as searches know it.
struct Chip {
  program::DeviceId device = 0;
  double speed = 1;
};

/// `times`: by node of the graph, on a chip at normal speed. `memory`: B of a chip.
[[nodiscard]] Package assemble(workload::Graph graph, std::vector<Time> times, const std::vector<Chip>& chips,
                               std::int64_t memory);

/// The job's graph, or its model lowered, over at most `chips` of the machine's live devices (0: all). InputError for a
/// package of more than max_chips, and as lowered_graph().
[[nodiscard]] Package make_package(const Job& job, std::int64_t chips);

[[nodiscard]] bool has_equal_speeds(const Package& package);

/// Times of the problem's nodes, in its order.
[[nodiscard]] std::vector<Time> solved_times(const Package& package);

}  // namespace tessera::strategy::mcm
