#include "graph_input.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tessera::strategy::mcm {
namespace {

constexpr int octaves = 7;  // the shortest wave is a 64th of the graph: about half a chip of 36

NodeLists lists_of(std::vector<std::vector<NodeId>> lists) {
  NodeLists result;
  result.begin.push_back(0);
  for (std::vector<NodeId>& list : lists) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    result.all.insert(result.all.end(), list.begin(), list.end());
    result.begin.push_back(static_cast<std::uint32_t>(result.all.size()));
  }
  return result;
}

/// What a node is and weighs.
struct Amounts {
  std::vector<double> time, weights, output;  // by node
};

Amounts amounts_of(const Package& package) {
  Amounts amounts;
  std::vector<bool> counted(package.graph.tensors.size(), false);
  for (const workload::GraphNodeId id : package.reduced.node_of) {
    const workload::GraphNode& node = package.graph.nodes[id];
    double weights = 0, output = 0;
    for (const workload::TensorId tensor : node.reads) {
      if (package.uses[tensor].maker != TensorUse::no_node || counted[tensor]) continue;
      if (package.graph.tensors[tensor].kind == workload::TensorKind::input) continue;
      counted[tensor] = true;
      weights += static_cast<double>(package.graph.tensors[tensor].bytes);
    }
    for (const workload::TensorId tensor : node.writes)
      output += static_cast<double>(package.graph.tensors[tensor].bytes);
    amounts.time.push_back(static_cast<double>(package.times[id]));
    amounts.weights.push_back(weights);
    amounts.output.push_back(output);
  }
  return amounts;
}

/// Of each node the middle of its share of all, in topological order: 0 .. 1. By count where there is nothing.
std::vector<double> places(const std::vector<NodeId>& order, const std::vector<double>& amount) {
  double all = 0;
  for (const double one : amount) all += one;
  std::vector<double> place(order.size());
  double before = 0;
  for (const NodeId node : order) {
    const double own = all > 0 ? amount[node] / all : 1.0 / static_cast<double>(order.size());
    place[node] = before + own / 2;
    before += own;
  }
  return place;
}

/// Of each node the longest way from the begin to it, as a part of the longest way through it: by nodes.
std::vector<double> depths(const std::vector<NodeId>& order, const NodeLists& sources, const NodeLists& readers) {
  std::vector<double> down(order.size(), 0), up(order.size(), 0);
  for (const NodeId node : order)
    for (const NodeId source : sources[node]) down[node] = std::max(down[node], down[source] + 1);
  for (auto node = order.rbegin(); node != order.rend(); ++node)
    for (const NodeId reader : readers[*node]) up[*node] = std::max(up[*node], up[reader] + 1);
  for (std::size_t node = 0; node < order.size(); ++node) down[node] /= std::max(1.0, down[node] + up[node]);
  return down;
}

/// Writes columns of one node after another.
class Columns {
 public:
  Columns(GraphInput& input, bool count_only) : input_(input), count_only_(count_only) {}
  void add(double value) {
    if (count_only_)
      ++input_.features;
    else
      input_.values.push_back(static_cast<float>(value));
  }
  /// From 0 .. 1: itself, and waves of it.
  void add_place(double place) {
    add(2 * place - 1);
    for (int octave = 0; octave < octaves; ++octave) {
      const double angle = std::numbers::pi * std::ldexp(place, octave);
      add(std::sin(angle));
      add(std::cos(angle));
    }
  }

 private:
  GraphInput& input_;
  bool count_only_;
};

double logarithm(double value) { return std::log2(1 + value); }

}  // namespace

const std::string& feature_set() {
  static const std::string name = "places-1";
  return name;
}

GraphInput graph_input(const Package& package) {
  const Problem& problem = package.reduced.problem;
  GraphInput input;
  input.nodes = problem.nodes;
  input.chips = problem.chips;
  std::vector<std::vector<NodeId>> sources(problem.nodes), readers(problem.nodes), both(problem.nodes);
  for (const Edge& edge : problem.edges) {
    sources[edge.to].push_back(edge.from);
    readers[edge.from].push_back(edge.to);
    both[edge.to].push_back(edge.from);
    both[edge.from].push_back(edge.to);
  }
  input.sources = lists_of(std::move(sources));
  input.readers = lists_of(std::move(readers));
  input.neighbours = lists_of(std::move(both));

  const std::vector<NodeId> order = topological_order(problem);
  const Amounts amounts = amounts_of(package);
  const auto sum = [](const std::vector<double>& all) {
    double result = 0;
    for (const double one : all) result += one;
    return std::max(result, 1.0);
  };
  const double chips = problem.chips, nodes = problem.nodes;
  const double time = sum(amounts.time) / chips, weights = sum(amounts.weights) / chips;
  const double output = sum(amounts.output) / nodes;
  const double longest = *std::max_element(amounts.time.begin(), amounts.time.end()) / time;
  const std::vector<double> by_time = places(order, amounts.time), by_weights = places(order, amounts.weights);
  const std::vector<double> by_nodes = places(order, std::vector<double>(problem.nodes, 1.0));
  const std::vector<double> depth = depths(order, input.sources, input.readers);
  const auto write = [&](NodeId node, bool count_only) {
    Columns columns(input, count_only);
    columns.add_place(by_time[node]);
    columns.add_place(by_weights[node]);
    columns.add(2 * by_nodes[node] - 1);
    columns.add(2 * depth[node] - 1);
    columns.add(logarithm(amounts.time[node] / time));
    columns.add(logarithm(amounts.weights[node] / weights));
    columns.add(logarithm(amounts.output[node] / output));
    columns.add(logarithm(static_cast<double>(input.sources[node].size())));
    columns.add(logarithm(static_cast<double>(input.readers[node].size())));
    columns.add(package.graph.nodes[package.reduced.node_of[node]].flops() > 0 ? 1 : 0);
    columns.add(std::log2(nodes / chips) / 4);
    columns.add(std::log2(longest) / 4);
  };
  write(0, true);
  input.values.reserve(std::size_t{problem.nodes} * input.features);
  for (NodeId node = 0; node < problem.nodes; ++node) write(node, false);
  return input;
}

}  // namespace tessera::strategy::mcm
