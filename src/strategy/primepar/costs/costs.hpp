// What a search adds up: the latency of each operator under each of its partitions, and that of redistributions between
// each two (PrimePar, ASPLOS 2024, slides: cost model). Predictions: what is simulated never reads them.
#pragma once

#include <vector>

#include "node_bytes.hpp"
#include "node_costs.hpp"

namespace tessera::strategy::primepar {

/// A matrix of times, row by row.
struct TimeMatrix {
  std::size_t rows = 0, columns = 0;
  std::vector<Time> times;
  [[nodiscard]] Time at(std::size_t row, std::size_t column) const { return times[row * columns + column]; }
};

/// The costs of all choices. Edges between the same two nodes are one matrix.
struct CostTables {
  std::vector<std::vector<Time>> nodes;        ///< NodeTimes::all, by node and choice
  std::vector<std::vector<NodeTimes>> beside;  ///< likewise; none where nothing is overlapped
  std::vector<std::vector<NodeBytes>> bytes;   ///< likewise
  struct Edge {
    int from = 0, to = 0;
    bool to_next_layer = false;
    TimeMatrix times;  ///< forward and backward; by choice of `from` and of `to`
  };
  std::vector<Edge> edges;
  /// Of what a pipeline stage hands on, by choice of the last operator, which is cut alike in all stages: the layout in
  /// which it goes. The first layer then reads it as the next layer would. Empty: one stage.
  std::vector<Time> handover;
};

/// `choices` by node. At most 64 devices. All ranks of the job's evaluations take part, each with some of the choices,
/// and rank 0 has the tables; those of the others are of no use.
[[nodiscard]] CostTables cost_tables(const Job& job, const Graph& graph,
                                     const std::vector<std::vector<Partition>>& choices, int bits,
                                     const Passes& passes);
/// One for each node of a layer.
using Choice = std::vector<std::size_t>;
/// Of all layers of a stage, one after the other, but for what is beside them.
[[nodiscard]] Time total_cost(const CostTables& tables, const std::vector<Choice>& layers);
/// What of the sums beside the last backward pass is left when it has ended: those whose gradient is there go on while
/// it does, but across nodes no two things do.
[[nodiscard]] Time exposed_sums(const CostTables& tables, const std::vector<Choice>& layers);

/// What the fullest device of the first stage holds at most, as far as it is what each operator's fullest device holds.
[[nodiscard]] std::int64_t peak_bytes(const CostTables& tables, const std::vector<Choice>& layers);

}  // namespace tessera::strategy::primepar
