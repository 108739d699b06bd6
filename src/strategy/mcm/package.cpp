#include "package.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "tessera/base/error.hpp"
#include "tessera/base/integers.hpp"

namespace tessera::strategy::mcm {
namespace {

std::vector<TensorUse> uses_of(const workload::Graph& graph) {
  std::vector<TensorUse> uses(graph.tensors.size());
  for (workload::GraphNodeId node = 0; node < graph.nodes.size(); ++node) {
    for (const workload::TensorId tensor : graph.nodes[node].writes) uses[tensor].maker = node;
    for (const workload::TensorId tensor : graph.nodes[node].reads) {
      std::vector<workload::GraphNodeId>& readers = uses[tensor].readers;
      if (readers.empty() || readers.back() != node) readers.push_back(node);  // nodes come in ascending order
    }
  }
  return uses;
}

std::vector<Time> times_of(const workload::Graph& graph, const Job& job) {
  std::vector<Time> times;
  for (const workload::GraphNode& node : graph.nodes) {
    Time time = 0;
    for (const workload::Operator& op : node.work.forward)
      time = saturating_add(time, job.cost.time(op, job.machine.device));
    times.push_back(time);
  }
  return times;
}

workload::Graph graph_of(const Job& job) {
  if (job.graph != nullptr) return *job.graph;
  return workload::lowered_graph(*job.model, job.workload.sequence, job.workload.datatype, job.workload.global_batch);
}

}  // namespace

Package make_package(const Job& job, std::int64_t chips) {
  Package package;
  for (program::DeviceId device = 0; device < job.machine.devices(); ++device) {
    if (!job.machine.alive(device)) continue;
    if (chips > 0 && static_cast<std::int64_t>(package.devices.size()) == chips) break;
    package.devices.push_back(device);
    package.speeds.push_back(job.machine.speed[device]);
  }
  if (package.devices.size() > max_chips)
    throw InputError(fmt::format("strategy mcm cuts over at most {} chips, the machine has {}: `chips` takes fewer",
                                 max_chips, package.devices.size()));
  package.graph = graph_of(job);
  package.reduced = reduce(package.graph, static_cast<std::uint32_t>(package.devices.size()));
  package.order = workload::topological_order(package.graph);
  package.place.resize(package.order.size());
  for (std::uint32_t i = 0; i < package.order.size(); ++i) package.place[package.order[i]] = i;
  package.uses = uses_of(package.graph);
  package.times = times_of(package.graph, job);
  package.memory = job.machine.device.memory_capacity.value();
  return package;
}

std::vector<Time> solved_times(const Package& package) {
  std::vector<Time> times;
  for (const workload::GraphNodeId node : package.reduced.node_of) times.push_back(package.times[node]);
  return times;
}

}  // namespace tessera::strategy::mcm
