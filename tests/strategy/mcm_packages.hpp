// Packages to cut: graphs whose nodes take times that are given, and chips that know nothing but their memory.
#pragma once

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "mcm_graphs.hpp"
#include "strategy/mcm/package.hpp"

namespace tessera::strategy::mcm::tests {

/// "node 7"
inline std::string numbered(const char* what, std::int64_t number) {
  std::string name = what;
  name += std::to_string(number);
  return name;
}

/// A graph under construction. Nodes wait for the host as long as is said, so that their times are what they are.
struct GraphCase {
  workload::Graph graph;

  workload::TensorId tensor(workload::TensorKind kind, std::int64_t bytes) {
    graph.tensors.push_back({numbered("tensor ", static_cast<std::int64_t>(graph.tensors.size())), kind, bytes, bytes});
    return static_cast<workload::TensorId>(graph.tensors.size() - 1);
  }
  /// Returns the tensors that it writes, one of each size.
  std::vector<workload::TensorId> node(const std::string& name, Time time, std::vector<workload::TensorId> reads,
                                       const std::vector<std::int64_t>& writes) {
    workload::GraphNode made{name, {}, std::move(reads), {}};
    made.work.forward = {workload::host_pause(name, Duration{time})};
    for (const std::int64_t bytes : writes) made.writes.push_back(tensor(workload::TensorKind::made, bytes));
    graph.nodes.push_back(made);
    return made.writes;
  }
};

/// The graph over that many chips of 1 TB.
inline Package package_of(const workload::Graph& graph, std::uint64_t chips) {
  std::vector<Time> times;
  for (const workload::GraphNode& node : graph.nodes) times.push_back(node.work.forward.front().host_time);
  std::vector<Chip> all;
  for (program::DeviceId chip = 0; chip < chips; ++chip) all.push_back({chip, 1});
  return assemble(graph, std::move(times), all, 1'000'000'000'000);
}

/// random_problem() with tensors and weights of all sizes; nodes take 1 to 100 us, some read inputs of the host, a
/// weight is read by up to three of them, and some results go to nobody.
inline GraphCase random_graph(std::uint64_t index, std::uint32_t nodes) {
  const Problem problem = random_problem(index, nodes, 1);
  const KeyedRandom random(index, random_stream("mcm test tensors"));
  std::uint64_t drawn = 0;
  const auto draw = [&](std::uint64_t below) { return static_cast<std::int64_t>(random.below(drawn++, below)); };
  GraphCase made;
  std::vector<std::vector<workload::TensorId>> reads(problem.nodes), writes(problem.nodes);
  for (NodeId node = 0; node < problem.nodes; ++node) {
    writes[node].push_back(made.tensor(workload::TensorKind::made, 1 + draw(5'000)));
    if (draw(4) == 0) reads[node].push_back(made.tensor(workload::TensorKind::input, 1 + draw(5'000)));
    if (draw(2) == 0) continue;
    const workload::TensorId weight = made.tensor(workload::TensorKind::parameter, 1 + draw(50'000));
    for (int i = 0; i < 3; ++i) {
      std::vector<workload::TensorId>& reader = reads[static_cast<std::size_t>(draw(problem.nodes))];
      if (std::find(reader.begin(), reader.end(), weight) == reader.end()) reader.push_back(weight);
    }
  }
  for (const Edge& edge : problem.edges) {
    const workload::TensorId tensor = writes[edge.from].front();
    if (std::find(reads[edge.to].begin(), reads[edge.to].end(), tensor) == reads[edge.to].end())
      reads[edge.to].push_back(tensor);
  }
  for (NodeId node = 0; node < problem.nodes; ++node) {
    const std::string name = numbered("node ", node);
    workload::GraphNode one{name, {}, reads[node], writes[node]};
    one.work.forward = {workload::host_pause(name, Duration{microsecond * (1 + draw(100))})};
    made.graph.nodes.push_back(one);
  }
  return made;
}

}  // namespace tessera::strategy::mcm::tests
