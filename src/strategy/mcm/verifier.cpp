#include "verifier.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <functional>

namespace tessera::strategy::mcm {
namespace {

using Violation = std::optional<std::string>;
using Names = std::function<std::string(NodeId)>;

Violation incomplete(const Problem& problem, const Partition& partition, const Names& name) {
  if (partition.size() != problem.nodes)
    return fmt::format("the partition has {} nodes, the graph {}", partition.size(), problem.nodes);
  for (NodeId node = 0; node < partition.size(); ++node) {
    if (partition[node] >= problem.chips)
      return fmt::format("node {} is on chip {}, and there are {} chips", name(node), partition[node], problem.chips);
  }
  return {};
}

Violation backward(const Problem& problem, const Partition& f, const Names& name) {
  for (const Edge& edge : problem.edges) {
    if (f[edge.from] > f[edge.to])
      return fmt::format("edge {} -> {} goes from chip {} back to chip {}", name(edge.from), name(edge.to),
                         f[edge.from], f[edge.to]);
  }
  return {};
}

Violation skipped(const Problem& problem, const Partition& f, const Names& name) {
  std::vector<bool> used(problem.chips, false);
  for (const ChipId chip : f) used[chip] = true;
  const auto top = std::max_element(f.begin(), f.end());
  for (std::size_t chip = 0; chip < *top; ++chip) {
    if (!used[chip])
      return fmt::format("chip {} is skipped: nothing is on it, and node {} is on chip {}", chip,
                         name(static_cast<NodeId>(top - f.begin())), *top);
  }
  return {};
}

// Longest paths of the graph of chips from one of them. Edges lead to higher chips alone, so that a pass in the order
// of the chips settles all.
struct ChipPaths {
  std::vector<std::size_t> length;  // 0: no path
  std::vector<std::size_t> before;  // the chip ahead on the longest path

  ChipPaths(const std::vector<std::vector<std::size_t>>& readers, std::size_t from)
      : length(readers.size(), 0), before(readers.size(), from) {
    for (std::size_t chip = from; chip < readers.size(); ++chip) {
      if (chip != from && length[chip] == 0) continue;
      for (const std::size_t reader : readers[chip]) {
        if (length[chip] + 1 <= length[reader]) continue;
        length[reader] = length[chip] + 1;
        before[reader] = chip;
      }
    }
  }
};

Violation triangle(const Problem& problem, const Partition& f, const Names& name) {
  std::vector<std::vector<std::size_t>> readers(problem.chips);
  for (const Edge& edge : problem.edges) {
    if (f[edge.from] != f[edge.to]) readers[f[edge.from]].push_back(f[edge.to]);
  }
  std::vector<ChipPaths> paths;
  for (std::size_t chip = 0; chip < problem.chips; ++chip) {
    std::sort(readers[chip].begin(), readers[chip].end());
    readers[chip].erase(std::unique(readers[chip].begin(), readers[chip].end()), readers[chip].end());
  }
  for (std::size_t chip = 0; chip < problem.chips; ++chip) paths.emplace_back(readers, chip);
  for (const Edge& edge : problem.edges) {
    const ChipPaths& from = paths[f[edge.from]];
    if (f[edge.from] == f[edge.to] || from.length[f[edge.to]] == 1) continue;
    return fmt::format("edge {} -> {} goes from chip {} to chip {} directly, and a path of {} leads there over chip {}",
                       name(edge.from), name(edge.to), f[edge.from], f[edge.to], from.length[f[edge.to]],
                       from.before[f[edge.to]]);
  }
  return {};
}

}  // namespace

std::optional<std::string> find_violation(const Problem& problem, const Partition& partition, const Names& name) {
  for (const auto& rule : {incomplete, backward, skipped, triangle}) {
    if (auto violation = rule(problem, partition, name)) return violation;
  }
  return {};
}

std::optional<std::string> find_violation(const Problem& problem, const Partition& partition) {
  return find_violation(problem, partition, [](NodeId node) { return std::to_string(node); });
}

}  // namespace tessera::strategy::mcm
