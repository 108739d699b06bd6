// Local search behind any other: nodes leave the most loaded chip, one at a time or a run at an end of it, for where
// they make the longer of the two loads shortest.
#include <algorithm>
#include <vector>

#include "../analytic.hpp"
#include "../chip_graph.hpp"
#include "searches.hpp"

namespace tessera::strategy::mcm {
namespace {

struct Move {
  std::vector<NodeId> nodes;
  ChipId to = 0;
  Time longer = 0;  // of the loads of both chips behind it
};

class Refinement {
 public:
  Refinement(const Question& question, Partition partition)
      : question_(question),
        package_(question.package),
        wiring_(make_wiring(package_.reduced.problem)),
        scratch_(package_.chips()),
        partition_(std::move(partition)),
        loads_(loads(package_, partition_)),
        memory_(std::max(memory_limit(question), most_held_by_a_chip(question, partition_))) {}

  Partition refine() {
    while (step()) {
    }
    return std::move(partition_);
  }

 private:
  /// False: nothing takes load from the most loaded chip.
  bool step() {
    const auto chip = static_cast<ChipId>(std::max_element(loads_.begin(), loads_.end()) - loads_.begin());
    std::vector<Move> moves = moves_from(chip);
    std::stable_sort(moves.begin(), moves.end(), [](const Move& a, const Move& b) { return a.longer < b.longer; });
    return std::any_of(moves.begin(), moves.end(), [&](const Move& move) { return take(chip, move); });
  }

  std::vector<Move> moves_from(ChipId chip) const {
    std::vector<NodeId> own;
    for (const NodeId node : wiring_.order) {
      if (partition_[node] == chip) own.push_back(node);
    }
    std::vector<Move> moves;
    const std::uint32_t top = *std::max_element(partition_.begin(), partition_.end());
    const std::uint32_t last = std::min(top + 1, package_.chips() - 1);
    for (std::uint32_t to = 0; to <= last; ++to) {
      if (to == chip) continue;
      for (const NodeId node : own) add(moves, {node}, chip, static_cast<ChipId>(to));
      std::vector<NodeId> run;
      for (std::size_t i = 0; i < own.size(); ++i) {  // up from the first, or down from the last node
        run.push_back(to < chip ? own[i] : own[own.size() - 1 - i]);
        if (i > 0 && !add(moves, run, chip, static_cast<ChipId>(to))) break;
      }
    }
    return moves;
  }

  /// False: the other chip would be loaded as much.
  bool add(std::vector<Move>& moves, const std::vector<NodeId>& nodes, ChipId from, ChipId to) const {
    Time leaves = 0, comes = 0;
    for (const NodeId node : nodes) {
      leaves += time_on(package_, node, from);
      comes += time_on(package_, node, to);
    }
    const Time longer = std::max(loads_[from] - leaves, loads_[to] + comes);
    if (longer < loads_[from]) moves.push_back({nodes, to, longer});
    return loads_[to] + comes < loads_[from];
  }

  /// Whether the move leaves everything valid, within memory, and the two chips less loaded than the one was.
  bool take(ChipId from, const Move& move) {
    for (const NodeId node : move.nodes) partition_[node] = move.to;
    if (is_solved(wiring_, partition_, scratch_)) {
      std::vector<Time> now = loads(package_, partition_);
      const bool is_better =
          std::max(now[from], now[move.to]) < loads_[from] && *std::max_element(now.begin(), now.end()) <= loads_[from];
      const bool has_memory = question_.options.evaluator == EvaluatorKind::analytic ||
                              most_held_by_a_chip(question_, partition_) <= memory_;
      if (is_better && has_memory) {
        loads_ = std::move(now);
        return true;
      }
    }
    for (const NodeId node : move.nodes) partition_[node] = from;
    return false;
  }

  const Question& question_;
  const Package& package_;
  Wiring wiring_;
  ChipGraph scratch_;
  Partition partition_;
  std::vector<Time> loads_;
  std::int64_t memory_;
};

}  // namespace

Found refined(const Question& question, Found found) {
  Found behind = judged(question, "refined", Refinement(question, found.partition).refine());
  program::search::Tried row = behind.table.front();
  row.step = static_cast<std::int64_t>(found.table.size());
  const program::Evaluation& before = found.evaluation;
  row.accepted = behind.evaluation.feasible && (!before.feasible || behind.evaluation.time < before.time);
  if (!row.accepted && row.reason.empty()) row.reason = "not faster";
  row.best = row.accepted ? behind.evaluation.time : before.feasible ? before.time : 0;
  found.table.push_back(std::move(row));
  if (found.table.back().accepted) {
    found.partition = std::move(behind.partition);
    found.evaluation = std::move(behind.evaluation);
  }
  return found;
}

}  // namespace tessera::strategy::mcm
