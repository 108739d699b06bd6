#include "costs.hpp"

#include <algorithm>
#include <tuple>

#include "../cuts/work.hpp"
#include "redistribution_times.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/messages.hpp"
#include "tessera/base/together.hpp"

namespace tessera::strategy::primepar {
namespace {

/// The choices of one operator, of which this rank works on a part.
struct Choices {
  std::vector<Slices> slices;
  WorkRange work;

  [[nodiscard]] std::vector<const Slices*> all() const { return pointers(0, slices.size()); }
  [[nodiscard]] std::vector<const Slices*> own() const { return pointers(work.begin, work.end); }
  [[nodiscard]] std::vector<const Slices*> pointers(std::size_t from, std::size_t to) const {
    std::vector<const Slices*> found;
    for (std::size_t i = from; i < to; ++i) found.push_back(&slices[i]);
    return found;
  }
};

Choices make_choices(const Operator& op, const std::vector<Partition>& partitions, int bits, Communicator& comm) {
  Choices found;
  for (const Partition& partition : partitions) found.slices.emplace_back(op, partition, bits);
  found.work = work_of(partitions.size(), comm.rank(), comm.size());
  return found;
}

void add_to(Time& sum, Time time) { sum = saturating_add(sum, time); }

void multiply(std::vector<Time>& times, std::int64_t count) {
  for (std::size_t i = 0; count != 1 && i < times.size(); ++i) times[i] = saturating_times(count, times[i]);
}

/// Rows of this rank's producers; so many forward for one backward.
std::vector<Time> redistribution_times(const Job& job, const Edge& edge, const Choices& from, const Choices& to,
                                       std::int64_t element, Burdens& burdens, int forward_times) {
  const std::vector<const Slices*> producers = from.own(), consumers = to.all();
  if (producers.empty()) return {};
  RedistributionTimes forward(forward_redistributions(edge.shared, producers, consumers, burdens.patterns()), element,
                              burdens);
  RedistributionTimes backward(backward_redistributions(edge.shared, producers, consumers, burdens.patterns()), element,
                               burdens);
  std::vector<Time> times(producers.size() * consumers.size());
  for (std::size_t producer = 0; producer < producers.size(); ++producer) {
    job.evaluations.go_on();
    forward.times(producer, &times[producer * consumers.size()]);
  }
  multiply(times, forward_times);
  constexpr std::size_t at_once = 8;  // columns, of which a row's part is a line of the cache
  std::vector<Time> columns(at_once * producers.size());
  for (std::size_t consumer = 0; consumer < consumers.size(); consumer += at_once) {
    job.evaluations.go_on();
    const std::size_t count = std::min(at_once, consumers.size() - consumer);
    for (std::size_t i = 0; i < count; ++i) backward.times(consumer + i, &columns[i * producers.size()]);
    for (std::size_t producer = 0; producer < producers.size(); ++producer) {
      for (std::size_t i = 0; i < count; ++i)
        add_to(times[producer * consumers.size() + consumer + i], columns[i * producers.size() + producer]);
    }
  }
  return times;
}

/// Between the same two nodes: graph's edges, or tables'.
bool is_parallel(const auto& one, const Edge& other) {
  return one.from == other.from && one.to == other.to && one.to_next_layer == other.to_next_layer;
}

/// The costs of all edges, each of which is made once: a norm is cut as a residual is.
class EdgeTables {
 public:
  EdgeTables(const Job& job, const Graph& graph, const std::vector<Choices>& choices, const Passes& passes)
      : job_(job),
        graph_(graph),
        choices_(choices),
        passes_(passes),
        loads_(job.machine),
        burdens_(loads_, static_cast<std::size_t>(choices.front().slices.front().devices())) {}

  void make(CostTables& tables) {
    Communicator& comm = job_.evaluations.comm();
    for (const Edge& edge : graph_.edges) {
      const Choices &from = of(edge.from), &to = of(edge.to);
      std::vector<Time> rows;
      if (const Edge* same = same_before(edge)) {
        if (comm.rank() == 0) rows = table(tables, *same)->times.times;
      } else {
        together(comm, [&] {
          rows = redistribution_times(job_, edge, from, to, graph_.element, burdens_, forward_times(edge));
        });
        rows = joined(gather(comm, std::move(rows)));
        multiply(rows, passes_.in_a_row());
      }
      if (comm.rank() == 0) add(tables, edge, {from.slices.size(), to.slices.size(), std::move(rows)});
    }
  }

 private:
  [[nodiscard]] const Choices& of(int node) const { return choices_[static_cast<std::size_t>(node)]; }
  [[nodiscard]] int forward_times(const Edge& edge) const {
    return passes_.recomputation && !edge.to_next_layer ? 2 : 1;
  }

  static CostTables::Edge* table(CostTables& tables, const Edge& edge) {
    const auto found = std::ranges::find_if(tables.edges, [&](const auto& one) { return is_parallel(one, edge); });
    return found == tables.edges.end() ? nullptr : &*found;
  }

  static void add(CostTables& tables, const Edge& edge, TimeMatrix times) {
    if (CostTables::Edge* known = table(tables, edge)) {
      for (std::size_t i = 0; i < times.times.size(); ++i) add_to(known->times.times[i], times.times[i]);
    } else {
      tables.edges.push_back({edge.from, edge.to, edge.to_next_layer, std::move(times)});
    }
  }

  /// One whose redistributions are the same and have a matrix of their own; null: none.
  [[nodiscard]] const Edge* same_before(const Edge& edge) const {
    for (const Edge& one : graph_.edges) {
      if (&one == &edge) break;
      const auto parallels =
          std::ranges::count_if(graph_.edges, [&](const Edge& other) { return is_parallel(one, other); });
      if (parallels == 1 && one.shared == edge.shared && forward_times(one) == forward_times(edge) &&
          are_cut_alike(edge.shared.made, one.from, edge.from) && are_cut_alike(edge.shared.read, one.to, edge.to))
        return &one;
    }
    return nullptr;
  }

  /// Whether all choices of both have the same slices of what is seen.
  [[nodiscard]] bool are_cut_alike(const TensorView& view, int one, int other) const {
    const std::vector<Slices>&a = of(one).slices, &b = of(other).slices;
    for (const AxisView& axis : view) {
      for (const AxisView::Run& run : axis.runs) {
        const auto i = static_cast<std::size_t>(run.dimension);
        if (a.front().op().dimensions[i].extent != b.front().op().dimensions[i].extent) return false;
      }
    }
    const auto squares = [](const Operator& op) { return std::tuple(op.rows, op.contracted, op.columns); };
    return squares(a.front().op()) == squares(b.front().op()) &&
           std::ranges::equal(a, b, {}, &Slices::partition, &Slices::partition);
  }

  const Job& job_;
  const Graph& graph_;
  const std::vector<Choices>& choices_;
  const Passes& passes_;
  machine::LinkLoads loads_;
  Burdens burdens_;
};

/// O to the next stage and dO back, each slice to the device of the same number.
std::vector<Time> handover_times(const Job& job, const Graph& graph, const Choices& last, const Passes& passes) {
  machine::LinkLoads loads(job.machine);
  std::vector<Time> found;
  for (const Slices* slices : last.own()) {
    const int devices = slices->devices();  // so many on is the next stage
    for (int device = 0; device < devices; ++device)
      loads.add(device, devices + device, Bytes{graph.element * elements(*slices, handed_on(*slices), device)});
    Time sum = loads.take();
    for (int device = 0; device < devices; ++device)
      loads.add(devices + device, device, Bytes{graph.element * elements(*slices, handed_back, device)});
    add_to(sum, loads.take());
    found.push_back(saturating_times(passes.in_a_row(), sum));
  }
  return found;
}

}  // namespace

CostTables cost_tables(const Job& job, const Graph& graph, const std::vector<std::vector<Partition>>& choices, int bits,
                       const Passes& passes) {
  Communicator& comm = job.evaluations.comm();
  CostTables tables;
  NodeCosts costs(job, graph, passes);
  std::vector<Choices> all;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    std::vector<Time> times;
    std::vector<NodeTimes> beside;
    std::vector<NodeBytes> bytes;
    together(comm, [&] {
      all.push_back(make_choices(graph.nodes[i].op, choices[i], bits, comm));
      for (std::size_t choice = all[i].work.begin; choice < all[i].work.end; ++choice) {
        job.evaluations.go_on();
        const CutNode cut = cut_node(graph.nodes[i].op, choices[i][choice], bits);
        beside.push_back(costs.times(i, cut));
        times.push_back(beside.back().all);
        bytes.push_back(node_bytes(graph, i, cut, passes));
      }
    });
    tables.nodes.push_back(joined(gather(comm, std::move(times))));
    if (passes.overlap_gradients) tables.beside.push_back(joined(gather(comm, std::move(beside))));
    tables.bytes.push_back(joined(gather(comm, std::move(bytes))));
  }
  EdgeTables(job, graph, all, passes).make(tables);
  if (passes.stages > 1) {
    std::vector<Time> times;
    together(comm, [&] { times = handover_times(job, graph, all.back(), passes); });
    tables.handover = joined(gather(comm, std::move(times)));
  }
  return tables;
}

Time total_cost(const CostTables& tables, const std::vector<Choice>& layers) {
  const bool has_stages = !tables.handover.empty();
  Time sum = has_stages ? tables.handover[layers.back().back()] : 0;
  for (std::size_t layer = 0; layer < layers.size(); ++layer) {
    for (std::size_t i = 0; i < layers[layer].size(); ++i) sum += tables.nodes[i][layers[layer][i]];
    for (const CostTables::Edge& edge : tables.edges) {
      if (edge.to_next_layer && layer == 0 && !has_stages) continue;
      const Choice& before = layer == 0 ? layers.back() : layers[layer - 1];
      const Choice& source = edge.to_next_layer ? before : layers[layer];
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

std::int64_t peak_bytes(const CostTables& tables, const std::vector<Choice>& layers) {
  std::int64_t held = 0, most = 0;
  for (const Choice& layer : layers) {
    for (std::size_t i = 0; i < layer.size(); ++i) held += tables.bytes[i][layer[i]].held;
  }
  for (std::size_t layer = layers.size(); layer-- > 0;) {  // the backward pass
    const Choice& chosen = layers[layer];
    std::int64_t again = 0;
    for (std::size_t i = 0; i < chosen.size(); ++i) again += tables.bytes[i][chosen[i]].again;
    for (std::size_t i = chosen.size(); i-- > 0;) {
      const NodeBytes& node = tables.bytes[i][chosen[i]];
      most = std::max(most, held + again + node.buffers);
      held -= node.freed;
      again -= node.again;
    }
  }
  return most;
}

}  // namespace tessera::strategy::primepar
