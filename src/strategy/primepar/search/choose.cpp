#include "choose.hpp"

#include <algorithm>

#include "../cuts/layouts.hpp"
#include "candidates.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/messages.hpp"
#include "tessera/base/together.hpp"

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
Result find(const Setup& setup, const Job& job, CostTables tables) {
  const Space& space = setup.space;
  refuse_too_long(tables, setup.graph, setup.layers);
  Result result;
  if (!space.given.empty()) {
    result.candidates = {
        {"given", space.given, total_cost(tables, space.given) + exposed_sums(tables, space.given), 0}};
  } else {
    const auto needs = [&](const Found& found) {
      job.evaluations.go_on();
      return peak(write_program(setup, job, partitions_of(space, found.layers)));
    };
    result.candidates = find_candidates(tables, setup.graph, space, setup.layers, setup.bits, setup.options.simulated,
                                        {job.machine.device.usable_memory().value(), needs});
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

/// Keys of the [strategy] table.
std::shared_ptr<config::Table> table_of(const Graph& graph, const LayerPartitions& layers) {
  const auto partitions = std::make_shared<config::Table>();
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    partitions->set(graph.nodes[i].op.name, {node_text(graph, i, layers), {}});
  auto table = std::make_shared<config::Table>();
  table->set("partitions", {partitions, {}});
  return table;
}

/// "fc1 {K, P(2x2)}; activation {F, M, F}; fc2 {N, P(2x2)}"
std::string plan_text(const Graph& graph, const LayerPartitions& layers) {
  std::string text;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    text += (i == 0 ? "" : "; ") + graph.nodes[i].op.name + ' ' + node_text(graph, i, layers);
  return text;
}

/// Of one of the candidates, in parts.
std::vector<std::pair<std::string, Time>> predictions(const Setup& setup, const Result& result, std::size_t taken) {
  std::vector<std::pair<std::string, Time>> found;
  const Time all = result.candidates[taken].predicted, exposed = result.exposed[taken];
  Time redistribution = all - exposed;
  for (std::size_t i = 0; i < setup.graph.nodes.size(); ++i) {
    found.emplace_back(setup.graph.nodes[i].op.name, result.operators[taken][i]);
    redistribution -= result.operators[taken][i];
  }
  found.emplace_back("redistribution", redistribution);
  if (setup.options.overlap_gradient_reduction) found.emplace_back("gradient sums shown", exposed);
  found.emplace_back("all", all);
  return found;
}

}  // namespace

Searched search_plan(const Setup& setup, const Job& job) {
  const Space& space = setup.space;
  Searched searched;
  if (setup.bits > most_searched_bits) return searched;  // given, and more than costs are known of
  Result result;
  CostTables tables = cost_tables(job, setup.graph, space.choices, setup.bits, setup.passes);
  together(job.evaluations.comm(), [&] {
    if (job.evaluations.comm().rank() == 0) result = find(setup, job, std::move(tables));
  });
  result = broadcast(job.evaluations.comm(), std::move(result));
  const auto layers_of = [&](std::size_t i) { return partitions_of(space, result.candidates[i].layers); };
  std::size_t taken = 0;
  std::vector<program::Evaluation> runs;
  if (result.candidates.size() > 1) {
    runs = job.evaluations.all(result.candidates.size(),
                               [&](std::size_t i) { return write_program(setup, job, layers_of(i)); });
    taken = fastest_of(runs);
  }
  searched.found = table_of(setup.graph, layers_of(taken));
  searched.predicted = predictions(setup, result, taken);
  if (space.given.empty()) {
    for (const std::vector<Partition>& choices : space.choices)
      searched.choices += static_cast<std::int64_t>(choices.size());
    searched.struck_out = result.candidates.front().struck_out;
  }
  if (runs.empty() && space.given.empty()) {
    const Proposal& one = result.candidates.front();
    searched.table.push_back({0,
                              plan_text(setup.graph, layers_of(0)),
                              program::Fidelity::estimate,
                              one.predicted,
                              true,
                              {},
                              one.predicted,
                              one.origin,
                              one.predicted});
  }
  Time best = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Proposal& one = result.candidates[i];
    if (runs[i].feasible) best = best == 0 ? runs[i].time : std::min(best, runs[i].time);
    const std::string reason = !runs[i].feasible ? runs[i].reason : i == taken ? "" : "not the fastest";
    searched.table.push_back({static_cast<std::int64_t>(i), plan_text(setup.graph, layers_of(i)),
                              program::Fidelity::simulated, runs[i].time, i == taken, reason, best, one.origin,
                              one.predicted, runs[i].interval, 0, runs[i].most_memory()});
  }
  return searched;
}

}  // namespace tessera::strategy::primepar
