#include "choose.hpp"

#include <algorithm>
#include <sstream>

#include "layouts.hpp"
#include "tessera/base/error.hpp"
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

/// What rank 0 tells the others.
struct Result {
  Found found;
  std::vector<Time> operators;
  Time exposed = 0;
};

std::string to_text(const Result& result) {
  std::ostringstream text;
  text << result.found.cost << ' ' << result.found.relaxations << ' ' << result.exposed;
  for (const Choice& layer : result.found.layers) {
    for (const std::size_t choice : layer) text << ' ' << choice;
  }
  for (const Time time : result.operators) text << ' ' << time;
  return text.str();
}

Result from_text(const std::string& text, std::size_t layers, std::size_t nodes) {
  std::istringstream numbers(text);
  Result result{{std::vector<Choice>(layers, Choice(nodes)), 0, 0}, std::vector<Time>(nodes)};
  numbers >> result.found.cost >> result.found.relaxations >> result.exposed;
  for (Choice& layer : result.found.layers) {
    for (std::size_t& choice : layer) numbers >> choice;
  }
  for (Time& time : result.operators) numbers >> time;
  return result;
}

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

}  // namespace

std::vector<std::vector<Partition>> partitions_of(const Space& space, const std::vector<Choice>& layers) {
  std::vector<std::vector<Partition>> found;
  for (const Choice& layer : layers) {
    found.emplace_back();
    for (std::size_t i = 0; i < layer.size(); ++i) found.back().push_back(space.choices[i][layer[i]]);
  }
  return found;
}

Chosen choose(const Job& job, const Graph& graph, const Space& space, const Passes& passes, std::int64_t layers,
              int bits, const std::function<std::int64_t(const std::vector<std::vector<Partition>>&)>& peak) {
  const bool is_given = !space.given.empty();
  if (job.evaluator == nullptr || bits > most_searched_bits) {
    if (!is_given) throw InternalError("a search measures, and has no evaluator");
    return {partitions_of(space, space.given), 0, {}, 0, 0};
  }
  const auto alone = make_serial_communicator();
  Communicator& comm = job.comm == nullptr ? *alone : *job.comm;
  CostTables tables = cost_tables(job, graph, space.choices, bits, passes);
  Result best{{space.given, 0, 0}, {}};
  together(comm, [&] {
    if (comm.rank() != 0) return;
    refuse_too_long(tables, graph, layers);
    if (is_given) {
      best.found.cost = total_cost(tables, space.given) + exposed_sums(tables, space.given);
    } else {
      const auto needs = [&](const Found& found) { return peak(partitions_of(space, found.layers)); };
      best.found = search_that_fits(tables, layers, {job.machine->device.memory_capacity, needs});
    }
    best.operators = operator_costs(tables, best.found.layers);
    best.exposed = exposed_sums(tables, best.found.layers);
  });
  best = from_text(comm.broadcast(comm.rank() == 0 ? to_text(best) : ""), static_cast<std::size_t>(layers),
                   graph.nodes.size());
  return {partitions_of(space, best.found.layers), best.found.cost, best.operators, best.exposed,
          best.found.relaxations};
}

}  // namespace tessera::strategy::primepar
