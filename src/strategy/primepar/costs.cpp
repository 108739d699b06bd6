#include "costs.hpp"

#include <algorithm>
#include <cstring>
#include <functional>

#include "device_order.hpp"
#include "redistribution_times.hpp"
#include "tessera/base/comm.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/together.hpp"
#include "work.hpp"

namespace tessera::strategy::primepar {
namespace {

/// The most of anything that devices have: slices of dimensions that are not divided evenly differ by an element.
template <class Value>
auto most(const Slices& slices, const Value& value) {
  auto found = value(0);
  for (int device = 1; device < slices.devices(); ++device) found = std::max(found, value(device));
  return found;
}

}  // namespace

NodeCosts::NodeCosts(const Job& job, const Graph& graph, const Passes& passes)
    : job_(&job), graph_(&graph), passes_(passes), sums_(all_reduce_costs(job)), loads_(*job.machine) {
  if (passes.sublayer != nullptr) sublayers_.emplace(job, *passes.sublayer);
  const std::vector<int> order = device_order(*job.machine);
  speeds_.assign(order.size() / static_cast<std::size_t>(passes.stages), 1.0);
  for (std::size_t i = 0; i < order.size(); ++i) {
    double& speed = speeds_[i % speeds_.size()];
    speed = std::min(speed, job.machine->speed[static_cast<std::size_t>(order[i])]);
    if (i < speeds_.size()) nodes_.push_back(job.machine->places[static_cast<std::size_t>(order[i])].node);
  }
}

Time NodeCosts::slowed(int device, Time time) const {
  const double speed = speeds_[static_cast<std::size_t>(device)];
  return speed == 1.0 ? time : static_cast<Time>(static_cast<double>(time) / speed);
}

Time NodeCosts::duration(const workload::Operator& op) const { return job_->cost->time(op, job_->machine->device); }

NodeTimes NodeCosts::times(std::size_t node, const CutNode& cut) {
  NodeTimes found;
  for (const Phase phase : all_phases) {
    if (!cut.slices.op().works_in(phase)) continue;
    between_nodes_ = 0;
    const Time own = computed(node, cut, phase);
    if (phase == Phase::gradient && cut.slices.op().has_parameters()) {  // summed once, not for each micro-batch
      found.backward += own;
      found.free += std::max<Time>(0, own - between_nodes_);
      const Time sums = summed(node, cut, phase);
      found.all += passes_.in_a_row() * own + (passes_.overlap_gradients ? 0 : sums);
      (is_across(cut.sums[static_cast<std::size_t>(phase)].groups) ? found.across : found.inside) = sums;
      continue;
    }
    const Time both = own + summed(node, cut, phase);
    const bool is_again = phase == Phase::forward && passes_.recomputation;
    found.all += (is_again ? 2 : 1) * passes_.in_a_row() * both;
    if (phase == Phase::forward && !is_again) continue;
    found.backward += both;
    found.free += std::max<Time>(0, both - between_nodes_);
  }
  return found;
}

bool NodeCosts::is_across(int device, int other) const {
  return nodes_[static_cast<std::size_t>(device)] != nodes_[static_cast<std::size_t>(other)];
}

bool NodeCosts::is_across(const GroupPattern& groups) const {
  return std::any_of(groups.begin(), groups.end(), [&](const std::vector<int>& group) {
    return std::any_of(group.begin(), group.end(), [&](int member) { return is_across(group.front(), member); });
  });
}

/// With ring transfers, and with the sum of what is one sub-layer with it.
Time NodeCosts::computed(std::size_t node, const CutNode& cut, Phase phase) {
  const Node& one = graph_->nodes[node];
  Time sum = one.op.kind == Kind::streaming ? 0 : is_sublayer(cut, phase) ? sublayer(cut, phase) : product(cut, phase);
  return sum + most(cut.slices, [&](int device) {
           Time streams = 0;
           for (const workload::Operator& op : streams_on(one, cut.slices, device, phase)) streams += duration(op);
           return slowed(device, streams);
         });
}

Time NodeCosts::summed(std::size_t node, const CutNode& cut, Phase phase) {
  const Node& one = graph_->nodes[node];
  Time sum = 0;
  if (phase != Phase::gradient && !cut.statistics.empty())
    sum +=
        sums_.time(cut.statistics, most(cut.slices, [&](int device) { return statistics_bytes(cut.slices, device); }));
  const AllReduce& all_reduce = cut.sums[static_cast<std::size_t>(phase)];
  if (all_reduce.groups.empty() || is_sublayer(cut, phase)) return sum;
  const auto bytes = [&](int device) { return summed_bytes(one, cut.slices, device, phase, graph_->element); };
  const Time time = sums_.time(all_reduce.groups, most(cut.slices, bytes));
  if (is_across(all_reduce.groups)) between_nodes_ += time;
  return sum + time;
}

bool NodeCosts::is_sublayer(const CutNode& cut, Phase phase) const { return sublayers_ && may_be_sublayer(cut, phase); }

Time NodeCosts::sublayer(const CutNode& cut, Phase phase) {
  const GroupPattern& groups = cut.sums[static_cast<std::size_t>(phase)].groups;
  return most(cut.slices, [&](int device) {
    const auto activity = phase == Phase::backward ? program::Activity::backward : program::Activity::forward;
    const workload::Operator gemm = product_on(cut.slices, device, phase, 0, graph_->datatype);
    return slowed(device, sublayers_->time(groups, gemm, activity));
  });
}

/// Each step takes as long as the longer of what it computes and what it sends.
Time NodeCosts::product(const CutNode& cut, Phase phase) {
  Time sum = 0;
  for (int step = 0; step < cut.slices.steps(); ++step) {
    const Time computed = most(cut.slices, [&](int device) {
      return slowed(device, duration(product_on(cut.slices, device, phase, step, graph_->datatype)));
    });
    Time additions = 0;
    sum += std::max(computed, transfers(cut, phase, step, additions)) + additions;
  }
  return sum;
}

Time NodeCosts::transfers(const CutNode& cut, Phase phase, int step, Time& additions) {
  bool across = false;
  const auto add = [&](const Move& move) {
    loads_.add(move.from, move.to, graph_->element * move.elements);
    across = across || is_across(move.from, move.to);
  };
  if (phase == Phase::gradient && step == 0) std::for_each(cut.weights_home.begin(), cut.weights_home.end(), add);
  for (const StepTransfer& transfer : cut.transfers[static_cast<std::size_t>(phase)]) {
    if (transfer.step != step + (transfer.is_sum ? 0 : 1)) continue;
    std::int64_t largest = 0;
    for (const Move& move : transfer.moves) {
      add(move);
      largest = std::max(largest, graph_->element * move.elements);
    }
    if (transfer.is_sum) additions += duration(addition(cut.slices.op(), largest, graph_->datatype));
  }
  const Time time = loads_.take();
  if (across) between_nodes_ += time;
  return time;
}

namespace {

/// Weights, gradients, activations of the fullest device.
std::int64_t held_bytes(const Graph& graph, std::size_t node, const Slices& slices, const Passes& passes) {
  const Node& one = graph.nodes[node];
  return most(slices, [&](int device) {
    const std::int64_t parameters = 2 * parameter_bytes(one, slices, device, graph.element);
    if (!passes.recomputation) return parameters + passes.held() * kept_bytes(one, slices, device, graph.element);
    return parameters + (graph.reads_input(node) ? passes.held() * input_bytes(slices, device, graph.element) : 0);
  });
}

std::int64_t most_buffers(const CutNode& cut, std::int64_t element) {
  return most(cut.slices, [&](int device) {
    std::int64_t bytes = 0;
    for (const Phase phase : all_phases) bytes = std::max(bytes, second_buffer_bytes(cut, phase, device, element));
    return bytes;
  });
}

/// The choices of one operator, of which this rank works on a part.
struct Choices {
  std::vector<Slices> slices;
  std::size_t begin = 0, end = 0;

  [[nodiscard]] std::vector<const Slices*> all() const { return pointers(0, slices.size()); }
  [[nodiscard]] std::vector<const Slices*> own() const { return pointers(begin, end); }
  [[nodiscard]] std::vector<const Slices*> pointers(std::size_t from, std::size_t to) const {
    std::vector<const Slices*> found;
    for (std::size_t i = from; i < to; ++i) found.push_back(&slices[i]);
    return found;
  }
};

Choices make_choices(const Operator& op, const std::vector<Partition>& partitions, int bits, Communicator& comm) {
  Choices found;
  for (const Partition& partition : partitions) found.slices.emplace_back(op, partition, bits);
  const auto rank = static_cast<std::size_t>(comm.rank()), ranks = static_cast<std::size_t>(comm.size());
  found.begin = partitions.size() * rank / ranks;
  found.end = partitions.size() * (rank + 1) / ranks;
  return found;
}

/// Everyone's numbers, by rank, on rank 0.
std::vector<std::int64_t> gathered(Communicator& comm, std::vector<std::int64_t> own) {
  if (comm.size() == 1) return own;
  std::vector<std::byte> bytes(own.size() * sizeof(std::int64_t));
  if (!own.empty()) std::memcpy(bytes.data(), own.data(), bytes.size());
  own.clear();
  for (const std::vector<std::byte>& part : comm.gather(bytes)) {
    const std::size_t before = own.size();
    own.resize(before + part.size() / sizeof(std::int64_t));
    if (!part.empty()) std::memcpy(own.data() + before, part.data(), part.size());
  }
  return own;
}

/// backward, free, inside, across; ...
std::vector<NodeTimes> in_fours(const std::vector<std::int64_t>& times) {
  std::vector<NodeTimes> found;
  for (std::size_t i = 0; i < times.size(); i += 4)
    found.push_back({0, times[i], times[i + 1], times[i + 2], times[i + 3]});
  return found;
}

/// Rows of this rank's producers; so many forward for one backward.
std::vector<Time> redistribution_times(const Edge& edge, const Choices& from, const Choices& to, std::int64_t element,
                                       LinkLoads& loads, int forward_times) {
  const std::vector<const Slices*> producers = from.own(), consumers = to.all();
  if (producers.empty()) return {};
  RedistributionTimes forward(forward_redistributions(edge.shared, producers, consumers), element, loads);
  RedistributionTimes backward(backward_redistributions(edge.shared, producers, consumers), element, loads);
  std::vector<Time> times;
  times.reserve(producers.size() * consumers.size());
  for (std::size_t producer = 0; producer < producers.size(); ++producer) {
    for (const Time time : forward.times(producer)) times.push_back(forward_times * time);
  }
  for (std::size_t consumer = 0; consumer < consumers.size(); ++consumer) {
    const std::vector<Time> column = backward.times(consumer);
    for (std::size_t producer = 0; producer < producers.size(); ++producer)
      times[producer * consumers.size() + consumer] += column[producer];
  }
  return times;
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

CostTables cost_tables(const Job& job, const Graph& graph, const std::vector<std::vector<Partition>>& choices, int bits,
                       const Passes& passes) {
  const auto alone = make_serial_communicator();
  Communicator& comm = job.comm == nullptr ? *alone : *job.comm;
  CostTables tables;
  NodeCosts costs(job, graph, passes);
  std::vector<Choices> all;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    std::vector<std::int64_t> times, beside, bytes, buffers;
    together(comm, [&] {
      all.push_back(make_choices(graph.nodes[i].op, choices[i], bits, comm));
      for (std::size_t choice = all[i].begin; choice < all[i].end; ++choice) {
        const CutNode cut = cut_node(graph.nodes[i].op, choices[i][choice], bits);
        const NodeTimes own = costs.times(i, cut);
        times.push_back(own.all);
        beside.insert(beside.end(), {own.backward, own.free, own.inside, own.across});
        buffers.push_back(most_buffers(cut, graph.element));
        bytes.push_back(held_bytes(graph, i, all[i].slices[choice], passes));
      }
    });
    tables.nodes.push_back(gathered(comm, std::move(times)));
    if (passes.overlap_gradients) tables.beside.push_back(in_fours(gathered(comm, std::move(beside))));
    tables.bytes.push_back(gathered(comm, std::move(bytes)));
    tables.buffers.push_back(gathered(comm, std::move(buffers)));
  }
  LinkLoads loads(*job.machine);
  for (const Edge& edge : graph.edges) {
    const Choices &from = all[static_cast<std::size_t>(edge.from)], &to = all[static_cast<std::size_t>(edge.to)];
    std::vector<Time> rows;
    const int forward_times = passes.recomputation && !edge.to_next_layer ? 2 : 1;
    together(comm, [&] { rows = redistribution_times(edge, from, to, graph.element, loads, forward_times); });
    rows = gathered(comm, std::move(rows));
    for (Time& time : rows) time *= passes.in_a_row();
    if (comm.rank() == 0)
      add_edge(tables,
               {edge.from, edge.to, edge.to_next_layer, {from.slices.size(), to.slices.size(), std::move(rows)}});
  }
  return tables;
}

Time boundary_cost(const Job& job, const CutGraph& cut, const Passes& passes) {
  if (passes.stages == 1) return 0;
  LinkLoads loads(*job.machine);
  const int next = cut.kinds.front().nodes.front().slices.devices();  // first device of the second stage
  const auto time = [&](const std::vector<Piece>& pieces, int from, int to) {
    for (const Piece& piece : pieces)
      loads.add(from + piece.from, to + piece.to, cut.graph->element * piece.elements());
    return loads.take();
  };
  Time sum = time(cut.boundary.forward, 0, next) + time(cut.boundary.backward, next, 0);
  for (const auto* inside : {&cut.boundary.spread, &cut.boundary.collect}) {
    for (const std::vector<Piece>& pieces : *inside) sum += time(pieces, next, next);
  }
  return passes.in_a_row() * sum;
}

Time total_cost(const CostTables& tables, const std::vector<Choice>& layers) {
  Time sum = 0;
  for (std::size_t layer = 0; layer < layers.size(); ++layer) {
    for (std::size_t i = 0; i < layers[layer].size(); ++i) sum += tables.nodes[i][layers[layer][i]];
    for (const CostTables::Edge& edge : tables.edges) {
      if (edge.to_next_layer && layer == 0) continue;
      const Choice& source = edge.to_next_layer ? layers[layer - 1] : layers[layer];
      sum +=
          edge.times.at(source[static_cast<std::size_t>(edge.from)], layers[layer][static_cast<std::size_t>(edge.to)]);
    }
  }
  return sum;
}

Time exposed_sums(const CostTables& tables, const std::vector<Choice>& layers) {
  Time inside = 0, across = 0;  // what is left of those whose gradients are there
  for (std::size_t layer = layers.size(); layer-- > 0 && !tables.beside.empty();) {
    for (std::size_t i = layers[layer].size(); i-- > 0;) {
      const NodeTimes& node = tables.beside[i][layers[layer][i]];
      const Time hidden = std::min(across, node.free);
      across += node.across - hidden;
      inside = std::max<Time>(0, inside - (node.backward - hidden)) + node.inside;
    }
  }
  return inside + across;
}

}  // namespace tessera::strategy::primepar
