#include "costs.hpp"

#include <algorithm>
#include <functional>

#include "layouts.hpp"
#include "tessera/base/error.hpp"
#include "work.hpp"

namespace tessera::strategy::primepar {
namespace {

constexpr std::int64_t small_size = 1 << 20, large_size = 64 << 20;  // B, of measured all-reduces

/// The most of anything that devices have: slices of dimensions that are not divided evenly differ by an element.
template <class Value>
auto most(const Slices& slices, const Value& value) {
  auto found = value(0);
  for (int device = 1; device < slices.devices(); ++device) found = std::max(found, value(device));
  return found;
}

}  // namespace

Time AllReduceCosts::time(const std::vector<std::vector<int>>& groups, std::int64_t bytes) {
  if (groups.empty()) return 0;
  const auto [found, added] = known_.try_emplace(groups);
  Line& line = found->second;
  if (added) line = {measure(groups, small_size), measure(groups, large_size)};
  const double slope = static_cast<double>(line.large - line.small) / (large_size - small_size);
  const double time = static_cast<double>(line.small) + slope * static_cast<double>(bytes - small_size);
  return std::max<Time>(0, static_cast<Time>(time));
}

Time AllReduceCosts::measure(const std::vector<std::vector<int>>& groups, std::int64_t bytes) const {
  program::Program program;
  program.labels = {""};
  program.free_reductions = job_->collectives->reduction == "free";
  program.devices.resize(job_->machine->devices());
  program::Collective collective;
  collective.bytes = bytes;
  collective.algorithm = job_->collectives->index_for(program::CollectiveKind::all_reduce);
  const program::BlockId block = program::BlockBuilder(program, "all-reduce").collective(collective).done();
  for (const std::vector<int>& group : groups) {
    for (const int member : group) {
      program::DeviceProgram& device = program.devices[static_cast<std::size_t>(member)];
      device.streams = {block};
      device.groups = {static_cast<program::GroupId>(program.groups.size())};
    }
    program.groups.push_back({{group.begin(), group.end()}});
  }
  const program::Evaluation evaluation = job_->evaluator->evaluate(program);
  if (!evaluation.feasible) throw InternalError("an all-reduce alone cannot run: " + evaluation.reason);
  return evaluation.time;
}

Time NodeCosts::duration(const workload::Operator& op) const { return job_->cost->time(op, job_->machine->device); }

Time NodeCosts::time(std::size_t node, const CutNode& cut) {
  Time sum = 0;
  for (const Phase each : all_phases) {
    if (cut.slices.op().works_in(each)) sum += phase(node, cut, each);
  }
  return sum;
}

Time NodeCosts::phase(std::size_t node, const CutNode& cut, Phase phase) {
  const Node& one = graph_->nodes[node];
  const auto i = static_cast<std::size_t>(phase);
  Time sum = one.op.kind == Kind::streaming ? 0 : product(cut, phase);
  sum += most(cut.slices, [&](int device) {
    Time streams = 0;
    for (const workload::Operator& op : streams_on(one, cut.slices, device, phase)) streams += duration(op);
    return streams;
  });
  if (phase != Phase::gradient && !cut.statistics.empty())
    sum +=
        sums_.time(cut.statistics, most(cut.slices, [&](int device) { return statistics_bytes(cut.slices, device); }));
  if (cut.sums[i].groups.empty()) return sum;
  const auto bytes = [&](int device) { return summed_bytes(one, cut.slices, device, phase, graph_->element); };
  return sum + sums_.time(cut.sums[i].groups, most(cut.slices, bytes));
}

/// Each step takes as long as the longer of what it computes and what it sends.
Time NodeCosts::product(const CutNode& cut, Phase phase) {
  Time sum = 0;
  for (int step = 0; step < cut.slices.steps(); ++step) {
    const Time computed = most(cut.slices, [&](int device) {
      return duration(product_on(cut.slices, device, phase, step, graph_->datatype));
    });
    Time additions = 0;
    sum += std::max(computed, transfers(cut, phase, step, additions)) + additions;
  }
  return sum;
}

Time NodeCosts::transfers(const CutNode& cut, Phase phase, int step, Time& additions) {
  if (phase == Phase::gradient && step == 0) {
    for (const Move& move : cut.weights_home) loads_.add(move.from, move.to, graph_->element * move.elements);
  }
  for (const StepTransfer& transfer : cut.transfers[static_cast<std::size_t>(phase)]) {
    if (transfer.step != step + (transfer.is_sum ? 0 : 1)) continue;
    std::int64_t largest = 0;
    for (const Move& move : transfer.moves) {
      loads_.add(move.from, move.to, graph_->element * move.elements);
      largest = std::max(largest, graph_->element * move.elements);
    }
    if (transfer.is_sum) additions += duration(addition(cut.slices.op(), largest, graph_->datatype));
  }
  return loads_.take();
}

namespace {

/// Weights, gradients, activations of the fullest device.
std::int64_t held_bytes(const Graph& graph, std::size_t node, const Slices& slices) {
  const Node& one = graph.nodes[node];
  return most(slices, [&](int device) {
    return 2 * parameter_bytes(one, slices, device, graph.element) + kept_bytes(one, slices, device, graph.element);
  });
}

std::vector<const Slices*> slices_of(const std::vector<CutNode>& nodes) {
  std::vector<const Slices*> found;
  for (const CutNode& node : nodes) found.push_back(&node.slices);
  return found;
}

CostTables::Edge edge_costs(const Edge& edge, const std::vector<CutNode>& from, const std::vector<CutNode>& to,
                            std::int64_t element, LinkLoads& loads) {
  const SharedLayouts layouts(edge.shared, slices_of(from), slices_of(to));
  CostTables::Edge found{edge.from, edge.to, edge.to_next_layer, {from.size(), to.size(), {}}};
  found.times.times.reserve(from.size() * to.size());
  const auto load = [&](int source, int destination, std::int64_t elements) {
    loads.add(source, destination, element * elements);
  };
  for (std::size_t producer = 0; producer < from.size(); ++producer) {
    for (std::size_t consumer = 0; consumer < to.size(); ++consumer) {
      layouts.forward(producer, consumer, load);
      Time time = loads.take();
      layouts.backward(producer, consumer, load);
      time += loads.take();
      found.times.times.push_back(time);
    }
  }
  return found;
}

void add_edge(CostTables& tables, CostTables::Edge edge) {
  for (CostTables::Edge& known : tables.edges) {
    if (known.from != edge.from || known.to != edge.to || known.to_next_layer != edge.to_next_layer) continue;
    std::transform(known.times.times.begin(), known.times.times.end(), edge.times.times.begin(),
                   known.times.times.begin(), std::plus<>());
    return;
  }
  tables.edges.push_back(std::move(edge));
}

}  // namespace

CostTables cost_tables(const Job& job, const Graph& graph, const std::vector<std::vector<Partition>>& choices,
                       int bits) {
  CostTables tables;
  NodeCosts costs(job, graph);
  std::vector<std::vector<CutNode>> cuts(graph.nodes.size());
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    tables.nodes.emplace_back();
    tables.bytes.emplace_back();
    for (const Partition& partition : choices[i]) {
      cuts[i].push_back(cut_node(graph.nodes[i].op, partition, bits));
      tables.nodes.back().push_back(costs.time(i, cuts[i].back()));
      tables.bytes.back().push_back(held_bytes(graph, i, cuts[i].back().slices));
    }
  }
  LinkLoads loads(job.machine->network);
  for (const Edge& edge : graph.edges)
    add_edge(tables, edge_costs(edge, cuts[static_cast<std::size_t>(edge.from)],
                                cuts[static_cast<std::size_t>(edge.to)], graph.element, loads));
  return tables;
}

Time total_cost(const CostTables& tables, const std::vector<std::size_t>& chosen) {
  Time sum = 0;
  for (std::size_t i = 0; i < chosen.size(); ++i) sum += tables.nodes[i][chosen[i]];
  for (const CostTables::Edge& edge : tables.edges)
    sum += edge.times.at(chosen[static_cast<std::size_t>(edge.from)], chosen[static_cast<std::size_t>(edge.to)]);
  return sum;
}

}  // namespace tessera::strategy::primepar
