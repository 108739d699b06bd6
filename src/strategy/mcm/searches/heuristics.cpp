// Searches that make one partition: as many nodes, or as much time, on each chip, or chips filled one after another.
#include <algorithm>
#include <limits>
#include <numeric>

#include "../analytic.hpp"
#include "../chip_work.hpp"
#include "../partitioner.hpp"
#include "../verifier.hpp"
#include "searches.hpp"
#include "segment_memory.hpp"

namespace tessera::strategy::mcm {

Time Question::foretell(const Partition& partition) const {
  return analytic_cost(package, partition, options.objective);
}

Time cost_of_heuristic(const Question& question) {
  const Partition partition = equal_nodes(question);
  const program::Evaluation evaluation = question.judge({partition}).front();
  if (evaluation.feasible) return evaluation.time;
  return question.foretell(partition);
}

Found judged(const Question& question, std::string name, Partition partition) {
  const program::Evaluation evaluation = question.judge({partition}).front();
  const Time foretold = question.foretell(partition);
  Candidate candidate{std::move(partition), std::move(name), foretold};
  program::search::Record<Candidate> record(candidate, question.fidelity);
  record.add(0, candidate, evaluation, true, {});
  return {std::move(candidate.partition), evaluation, record.take().table};
}

Partition made_valid(const Question& question, const Partition& candidate) {
  Partitioner solver(question.package.reduced.problem, question.options.chip_graph, NodeOrder::topological);
  return solver.fix(candidate, question.seed, 0);
}

Partition spread_at(const Question& question, const std::vector<double>& places) {
  const std::vector<NodeId> order = topological_order(question.package.reduced.problem);
  const std::uint32_t chips = question.package.chips();
  Partition partition(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto chip = static_cast<std::uint32_t>(places[i]);
    partition[order[i]] = static_cast<ChipId>(std::min(chip, chips - 1));
  }
  return made_valid(question, partition);
}

double place_by_speed(const Package& package, double part) {
  if (has_equal_speeds(package)) return part * package.chips();
  double rest = part * std::accumulate(package.speeds.begin(), package.speeds.end(), 0.0);
  std::uint32_t chip = 0;
  for (; chip + 1 < package.chips() && rest >= package.speeds[chip]; ++chip) rest -= package.speeds[chip];
  return chip + rest / package.speeds[chip];
}

Partition equal_nodes(const Question& question) {
  const std::uint32_t nodes = question.package.reduced.problem.nodes;
  const std::uint32_t parts = std::min(nodes, question.package.chips());
  // Of few nodes one on each of the first chips.
  const double part_of_chips = static_cast<double>(parts) / question.package.chips();
  std::vector<double> places;
  for (std::uint32_t i = 0; i < nodes; ++i) places.push_back(part_of_chips * i / nodes * question.package.chips());
  return spread_at(question, places);
}

Found search_equal_nodes(const Question& question) { return judged(question, "equal-nodes", equal_nodes(question)); }

Found search_equal_time(const Question& question) {
  const std::vector<Time> times = solved_times(question.package);
  const std::vector<NodeId> order = topological_order(question.package.reduced.problem);
  const Time all = std::max<Time>(1, std::accumulate(times.begin(), times.end(), Time{0}));
  std::vector<double> places;
  Time before = 0;
  for (const NodeId node : order) {
    const double middle = static_cast<double>(before) + static_cast<double>(times[node]) / 2;
    places.push_back(place_by_speed(question.package, middle / static_cast<double>(all)));
    before += times[node];
  }
  return judged(question, "equal-time", spread_at(question, places));
}

Partition within_memory(const Question& question, std::int64_t memory,
                        const std::function<Partition(std::int64_t limit)>& make) {
  constexpr int most_tries = 8;
  std::int64_t reserved = 0;
  for (int tries = 0;; ++tries) {
    Partition partition = make(memory - reserved);
    const std::int64_t beyond = most_held_by_a_chip(question, partition) - memory;
    if (beyond <= 0 || tries == most_tries) return partition;
    reserved = std::min(reserved + beyond, memory);
  }
}

std::int64_t memory_limit(const Question& question) {
  // Half of what a number holds: sums of it and a chip's bytes stay numbers.
  return question.options.evaluator == EvaluatorKind::package ? question.package.memory
                                                              : std::numeric_limits<std::int64_t>::max() / 2;
}

std::int64_t most_held_by_a_chip(const Question& question, const Partition& partition) {
  std::int64_t most = 0;
  for (const ChipWork& work : chip_work(question.package, partition, question.options.pipeline()))
    most = std::max(most, peak_bytes(work));
  return most;
}

Found search_fill(const Question& question) {
  const Package& package = question.package;
  const std::vector<NodeId> order = topological_order(package.reduced.problem);
  const auto filled = [&](std::int64_t limit) {
    Partition partition(order.size());
    SegmentMemory memory(package, order);
    std::uint32_t chip = 0;
    for (std::size_t begin = 0, i = 0; i < order.size(); ++i) {
      if (memory.after_adding(i) > limit && i > begin && chip + 1 < package.chips()) {
        ++chip;
        begin = i;
        memory.begin(i);
        memory.after_adding(i);
      }
      partition[order[i]] = static_cast<ChipId>(chip);
    }
    return made_valid(question, partition);
  };
  return judged(question, "fill", within_memory(question, package.memory, filled));
}

}  // namespace tessera::strategy::mcm
