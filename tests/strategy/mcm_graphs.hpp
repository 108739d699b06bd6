// Small graphs for the tests of the multi-chip partitioner, and what there is to find on them: by looking at every
// partition there is, with the verifier alone.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "strategy/mcm/partitioner.hpp"
#include "strategy/mcm/verifier.hpp"
#include "tessera/base/random.hpp"

namespace tessera::strategy::mcm::tests {

using Partitions = std::set<Partition>;

/// 0 -> {1, 2} -> 3.
inline Problem diamond(std::uint32_t chips) { return {4, chips, {{0, 1}, {0, 2}, {1, 3}, {2, 3}}}; }

/// Nodes one after another.
inline Problem chain_of(std::uint32_t nodes, std::uint32_t chips) {
  Problem problem{nodes, chips, {}};
  for (NodeId node = 1; node < nodes; ++node) problem.edges.push_back({node - 1, node});
  return problem;
}

/// In the manner of the paper's Figure 2a, with the edges that its text names (section 3: 0 -> 1 -> 3, 0 -> 2, 2 -> 4)
/// and 3 -> 4, which it does not; on the four chips of Figure 2b. The picture itself was not at hand.
inline Problem figure_2() { return {5, 4, {{0, 1}, {0, 2}, {1, 3}, {2, 4}, {3, 4}}}; }

/// All chips^nodes partitions that the verifier accepts and `also` does.
inline Partitions brute_force(
    const Problem& problem, const std::function<bool(const Partition&)>& also = [](const Partition&) { return true; }) {
  Partitions found;
  Partition partition(problem.nodes, 0);
  for (;;) {
    if (!find_violation(problem, partition) && also(partition)) found.insert(partition);
    std::size_t node = 0;
    while (node < problem.nodes && ++partition[node] == problem.chips) partition[node++] = 0;
    if (node == problem.nodes) return found;
  }
}

/// All that a template's solver can find, by exhaustive search over its decisions.
inline Partitions all_of(const std::string& name, const Problem& problem) {
  const Wiring wiring = make_wiring(problem);
  const auto solver = make_solver(name, wiring);
  Partitions found;
  enumerate(*solver, wiring, [&](const Partition& partition) { found.insert(partition); });
  return found;
}

/// A graph of 1 .. nodes nodes on 1 .. chips chips, with each edge from a lower to a higher number with a probability
/// that is drawn as well, so that loose and dense ones come up. Node numbers are shuffled.
inline Problem random_problem(std::uint64_t index, std::uint32_t nodes, std::uint32_t chips) {
  const KeyedRandom random(index, random_stream("mcm test graph"));
  std::uint64_t drawn = 0;
  Problem problem;
  problem.nodes = 1 + static_cast<std::uint32_t>(random.below(drawn++, nodes));
  problem.chips = 1 + static_cast<std::uint32_t>(random.below(drawn++, chips));
  const double mean_readers = 0.5 + 2.0 * random.real(drawn++);
  std::vector<NodeId> numbers(problem.nodes);
  for (NodeId node = 0; node < problem.nodes; ++node) numbers[node] = node;
  shuffle(numbers, KeyedRandom(index, random_stream("mcm test numbers")));
  for (NodeId from = 0; from < problem.nodes; ++from) {
    for (NodeId to = from + 1; to < problem.nodes; ++to) {
      if (random.real(drawn++) * problem.nodes < mean_readers) problem.edges.push_back({numbers[from], numbers[to]});
    }
  }
  return problem;
}

}  // namespace tessera::strategy::mcm::tests
