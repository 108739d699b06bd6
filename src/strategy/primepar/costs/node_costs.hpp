// What one operator costs under a partition: what a search adds up. Predictions: what is simulated never reads them.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "../cuts/cut_graph.hpp"
#include "measured_costs.hpp"
#include "tessera/machine/link_loads.hpp"
#include "tessera/strategy/strategy.hpp"

namespace tessera::strategy::primepar {

/// How often an iteration goes through a stage's layers, and what of it is summed once.
struct Passes {
  bool overlap_gradients = false;
  std::int64_t stages = 1, micro_batches = 1;
  bool keeps_all = false;  ///< the activations of all micro-batches, not only of as many as there are stages
  bool recomputation = false;
  /// Of products whose results are summed; null: operators and collectives.
  const program::sublayer::Configuration* sublayer = nullptr;

  /// Forward and backward passes one after the other: those of one stage, and those during which it waits for others.
  [[nodiscard]] std::int64_t in_a_row() const { return micro_batches + stages - 1; }
  /// Micro-batches whose activations the first stage holds.
  [[nodiscard]] std::int64_t held() const { return keeps_all ? micro_batches : std::min(micro_batches, stages); }
};

/// The time of all passes through one operator: computing, ring transfers as far as they exceed what is computed
/// beside them, all-reduces. Times that cannot be simulated are `never`.
struct NodeTimes {
  Time all = 0;  ///< but for the sum of its weight's gradient, where that is overlapped
  /// Where it is: of all, what is in the last backward pass; of that, what leaves the links between nodes alone; the
  /// sum inside nodes or across them, which only the latter hides.
  Time backward = 0, free = 0, inside = 0, across = 0;
};

class NodeCosts {
 public:
  NodeCosts(const Job& job, const Graph& graph, const Passes& passes);
  [[nodiscard]] NodeTimes times(std::size_t node, const CutNode& cut);

 private:
  [[nodiscard]] Time duration(const workload::Operator& op) const;
  /// What takes a healthy device so long, on the slowest of a stage's devices of that number.
  [[nodiscard]] Time slowed(int device, Time time) const;
  /// On the device that it takes the longest; `time` of a device's slices, on a healthy one.
  template <class TimeOf>
  [[nodiscard]] Time slowest(const Slices& slices, const TimeOf& time) const;
  [[nodiscard]] bool is_across(int device, int other) const;
  [[nodiscard]] bool is_across(const GroupPattern& groups) const;
  [[nodiscard]] Time computed(std::size_t node, const CutNode& cut, Phase phase);
  [[nodiscard]] Time summed(std::size_t node, const CutNode& cut, Phase phase);
  [[nodiscard]] bool is_sublayer(const CutNode& cut, Phase phase) const;
  [[nodiscard]] Time sublayer(const CutNode& cut, Phase phase);
  [[nodiscard]] Time product(const CutNode& cut, Phase phase);
  [[nodiscard]] Time transfers(const CutNode& cut, Phase phase, int step, Time& additions);

  const Job* job_;
  const Graph* graph_;
  Passes passes_;
  program::search::GroupCosts sums_;
  std::optional<SublayerCosts> sublayers_;
  machine::LinkLoads loads_;
  std::vector<double> speeds_;  // by device of a stage
  int slowest_ = 0;             // of them
  std::vector<int> nodes_;      // of the first stage's devices
  Time between_nodes_ = 0;      // that links are busy, in what is added up
};

template <class Value>
auto most_of(int devices, const Value& value) {
  auto found = value(0);
  for (int device = 1; device < devices; ++device) found = std::max(found, value(device));
  return found;
}

/// The most of anything that a device's slices decide alone: those of dimensions that are not divided evenly differ by
/// an element.
template <class Value>
auto most(const Slices& slices, const Value& value) {
  return most_of(slices.is_even() ? 1 : slices.devices(), value);
}

}  // namespace tessera::strategy::primepar
