#include "choose.hpp"

#include <algorithm>

#include "layouts.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/messages.hpp"
#include "tessera/base/together.hpp"
#include "tessera/program/evaluate_all.hpp"

namespace tessera::strategy::primepar {
namespace {

/// Of all layers, by node.
std::vector<Time> operator_costs(const CostTables& tables, const std::vector<Choice>& layers) {
  std::vector<Time> sums(tables.nodes.size(), 0);
  for (const Choice& layer : layers) {
    for (std::size_t i = 0; i < layer.size(); ++i) sums[i] += tables.nodes[i][layer[i]];
  }
  return sums;
}

/// B that the fullest device needs.
std::int64_t peak(const program::Program& program) {
  std::int64_t most = 0;
  for (program::DeviceId device = 0; device < program.devices.size(); ++device)
    most = std::max(most, program::memory_peak(program, device).total);
  return most;
}

/// What rank 0 tells the others: plans, and what is known of each.
struct Result {
  std::vector<Proposal> candidates;
  std::vector<std::vector<Time>> operators;  ///< operator_costs()
  std::vector<Time> exposed;                 ///< exposed_sums()

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& candidates& operators& exposed;
  }
};

/// Sums of costs, and what is too much beside them, have to stay within the range of time: all the slowest choices
/// together do.
void refuse_too_long(const CostTables& tables, const Graph& graph, std::int64_t layers) {
  double sum = 0, longest = 0;
  std::string where;
  const auto add = [&](const std::string& what, Time most) {
    const double time = static_cast<double>(most);
    sum += time;
    if (time <= longest) return;
    longest = time;
    where = what;
  };
  const auto name = [&](int node) { return '"' + graph.nodes[static_cast<std::size_t>(node)].op.name + '"'; };
  for (std::size_t i = 0; i < tables.nodes.size(); ++i) {
    add("operator " + name(static_cast<int>(i)), std::ranges::max(tables.nodes[i]));
    if (tables.beside.empty()) continue;
    for (const Time NodeTimes::*sums : {&NodeTimes::inside, &NodeTimes::across})
      add("the gradient of " + name(static_cast<int>(i)), std::ranges::max(tables.beside[i], {}, sums).*sums);
  }
  for (const CostTables::Edge& edge : tables.edges)
    add("the redistribution from " + name(edge.from) + " to " + name(edge.to), std::ranges::max(edge.times.times));
  if (!tables.handover.empty()) add("what one stage hands to the next", std::ranges::max(tables.handover));
  if (sum * static_cast<double>(layers) > static_cast<double>(too_much))
    throw InfeasibleError(
        BeyondTimeError::text(where + ", cut in the slowest way that the search for partitions adds up"));
}

/// Rank 0's business.
Result find(const Search& search, CostTables tables) {
  const Space& space = *search.space;
  refuse_too_long(tables, *search.graph, search.layers);
  Result result;
  if (!space.given.empty()) {
    result.candidates = {{"given", space.given, total_cost(tables, space.given) + exposed_sums(tables, space.given)}};
  } else {
    const auto needs = [&](const Found& found) { return peak(search.program(partitions_of(space, found.layers))); };
    result.candidates = find_candidates(tables, *search.graph, space, search.layers, search.bits, search.simulated,
                                        {search.job->machine->device.memory_capacity, needs});
  }
  for (const Proposal& one : result.candidates) {
    result.operators.push_back(operator_costs(tables, one.layers));
    result.exposed.push_back(exposed_sums(tables, one.layers));
  }
  return result;
}

/// Of those that can run the fastest, the first of equals; where none can, the first.
std::size_t fastest_of(const std::vector<program::Evaluation>& evaluations) {
  std::size_t fastest = 0;
  for (std::size_t i = 1; i < evaluations.size(); ++i) {
    const program::Evaluation &one = evaluations[i], &best = evaluations[fastest];
    if (one.feasible && (!best.feasible || one.time < best.time)) fastest = i;
  }
  return fastest;
}

}  // namespace

Chosen choose(const Search& search) {
  const Job& job = *search.job;
  const Space& space = *search.space;
  if (job.evaluator == nullptr || search.bits > most_searched_bits) {
    if (space.given.empty()) throw InternalError("a search measures, and has no evaluator");
    return {partitions_of(space, space.given), 0, {}, 0, {}, {}, 0};
  }
  const auto alone = make_serial_communicator();
  Communicator& comm = job.comm == nullptr ? *alone : *job.comm;
  Result result;
  CostTables tables = cost_tables(job, *search.graph, space.choices, search.bits, *search.passes);
  together(comm, [&] {
    if (comm.rank() == 0) result = find(search, std::move(tables));
  });
  result = broadcast(comm, std::move(result));
  Chosen chosen;
  if (result.candidates.size() > 1) {
    chosen.evaluations = program::evaluate_all(*job.evaluator, comm, result.candidates.size(), [&](std::size_t i) {
      return search.program(partitions_of(space, result.candidates[i].layers));
    });
    chosen.taken = fastest_of(chosen.evaluations);
  }
  const Proposal& taken = result.candidates[chosen.taken];
  chosen.layers = partitions_of(space, taken.layers);
  chosen.predicted = taken.predicted;
  chosen.operators = result.operators[chosen.taken];
  chosen.exposed = result.exposed[chosen.taken];
  chosen.candidates = std::move(result.candidates);
  return chosen;
}

}  // namespace tessera::strategy::primepar
