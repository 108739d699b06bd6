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

Package assemble(workload::Graph graph, std::vector<Time> times, const std::vector<Chip>& chips, std::int64_t memory) {
  Package package;
  package.graph = std::move(graph);
  package.reduced = reduce(package.graph, static_cast<std::uint32_t>(chips.size()));
  package.order = workload::topological_order(package.graph);
  package.uses = uses_of(package.graph);
  package.times = std::move(times);
  for (const Chip& chip : chips) {
    package.devices.push_back(chip.device);
    package.speeds.push_back(chip.speed);
  }
  package.memory = memory;
  return package;
}

Package make_package(const Job& job, std::int64_t chips) {
  std::vector<Chip> used;
  for (program::DeviceId device = 0; device < job.machine.accelerators(); ++device) {
    if (!job.machine.alive(device)) continue;
    if (chips > 0 && static_cast<std::int64_t>(used.size()) == chips) break;
    used.push_back({device, job.machine.speed[device]});
  }
  if (used.size() > max_chips)
    throw InputError(fmt::format("strategy mcm cuts over at most {} chips, the machine has {}: `chips` takes fewer",
                                 max_chips, used.size()));
  workload::Graph graph = graph_of(job);
  std::vector<Time> times = times_of(graph, job);
  return assemble(std::move(graph), std::move(times), used, job.machine.device.usable_memory().value());
}

bool has_equal_speeds(const Package& package) {
  return std::ranges::all_of(package.speeds, [&](double speed) { return speed == package.speeds.front(); });
}

std::vector<Time> solved_times(const Package& package) {
  std::vector<Time> times;
  for (const workload::GraphNodeId node : package.reduced.node_of) times.push_back(package.times[node]);
  return times;
}

}  // namespace tessera::strategy::mcm
