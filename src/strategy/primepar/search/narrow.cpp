#include "narrow.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "search.hpp"

namespace tessera::strategy::primepar {
namespace {

std::size_t index(int node) { return static_cast<std::size_t>(node); }

class Narrowing {
 public:
  Narrowing(const CostTables& tables, const std::vector<Choice>& always, std::size_t most)
      : tables_(tables), most_(most), always_(tables.nodes.size()), kept_(tables.nodes.size()) {
    for (std::size_t node = 0; node < kept_.size(); ++node) {
      for (const Choice& layer : always) always_[node].insert(layer[node]);
      for (std::size_t choice = 0; choice < tables.nodes[node].size(); ++choice) {
        if (tables.nodes[node][choice] < too_much) kept_[node].push_back(choice);
      }
    }
  }

  std::vector<Choice> narrow() {
    while (std::ranges::any_of(kept_, [&](const Choice& kept) { return kept.size() > most_; })) halve();
    return kept_;
  }

 private:
  void halve() {
    std::vector<Choice> next;
    for (std::size_t node = 0; node < kept_.size(); ++node) next.push_back(better_half(node));
    kept_ = std::move(next);
  }

  [[nodiscard]] Choice better_half(std::size_t node) const {
    const Choice& kept = kept_[node];
    if (kept.size() <= most_) return kept;
    const std::vector<Time> costs = least_costs(node);
    std::vector<std::size_t> order(kept.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
      const bool first = always_[node].contains(kept[a]), second = always_[node].contains(kept[b]);
      return first != second ? first : costs[a] < costs[b];
    });
    order.resize(std::max(most_, (kept.size() + 1) / 2));
    std::ranges::sort(order);
    Choice half;
    for (const std::size_t i : order) half.push_back(kept[i]);
    return half;
  }

  /// Of a node's choices that are kept, with sums as far as its own backward pass does not hide them.
  [[nodiscard]] std::vector<Time> least_costs(std::size_t node) const {
    std::vector<Time> costs;
    for (const std::size_t choice : kept_[node]) {
      Time cost = tables_.nodes[node][choice];
      if (!tables_.beside.empty()) {
        const NodeTimes& times = tables_.beside[node][choice];
        cost += std::max<Time>(0, times.inside + times.across - times.free);
      }
      for (const CostTables::Edge& edge : tables_.edges) {
        if (index(edge.from) == node) cost += least(edge, choice, kept_[index(edge.to)], true);
        if (index(edge.to) == node) cost += least(edge, choice, kept_[index(edge.from)], false);
      }
      costs.push_back(cost);
    }
    return costs;
  }

  static Time least(const CostTables::Edge& edge, std::size_t own, const Choice& others, bool is_from) {
    Time found = std::numeric_limits<Time>::max();
    for (const std::size_t other : others)
      found = std::min(found, is_from ? edge.times.at(own, other) : edge.times.at(other, own));
    return found;
  }

  const CostTables& tables_;
  std::size_t most_;
  std::vector<std::set<std::size_t>> always_;
  std::vector<Choice> kept_;
};

template <class Value>
std::vector<Value> picked(const std::vector<Value>& all, const Choice& kept) {
  std::vector<Value> found;
  for (const std::size_t choice : kept) found.push_back(all[choice]);
  return found;
}

}  // namespace

std::vector<Choice> Narrowed::widened(const std::vector<Choice>& layers) const {
  std::vector<Choice> found = layers;
  for (Choice& layer : found) {
    for (std::size_t node = 0; node < layer.size(); ++node) layer[node] = kept[node][layer[node]];
  }
  return found;
}

Narrowed only(const CostTables& tables, std::vector<Choice> kept) {
  Narrowed found;
  found.kept = std::move(kept);
  for (std::size_t node = 0; node < found.kept.size(); ++node) {
    found.tables.nodes.push_back(picked(tables.nodes[node], found.kept[node]));
    if (!tables.bytes.empty()) found.tables.bytes.push_back(picked(tables.bytes[node], found.kept[node]));
    if (!tables.beside.empty()) found.tables.beside.push_back(picked(tables.beside[node], found.kept[node]));
  }
  for (const CostTables::Edge& edge : tables.edges) {
    const Choice &rows = found.kept[index(edge.from)], &columns = found.kept[index(edge.to)];
    TimeMatrix times{rows.size(), columns.size(), {}};
    times.times.reserve(rows.size() * columns.size());
    for (const std::size_t row : rows) {
      for (const std::size_t column : columns) times.times.push_back(edge.times.at(row, column));
    }
    found.tables.edges.push_back({edge.from, edge.to, edge.to_next_layer, std::move(times)});
  }
  if (!tables.handover.empty()) found.tables.handover = picked(tables.handover, found.kept.back());
  return found;
}

Narrowed narrowed(const CostTables& tables, const std::vector<Choice>& always, std::size_t most) {
  return only(tables, Narrowing(tables, always, most).narrow());
}

}  // namespace tessera::strategy::primepar
