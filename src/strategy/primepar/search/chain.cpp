#include "chain.hpp"

#include <algorithm>

#include "tessera/base/error.hpp"

namespace tessera::strategy::primepar {

Chain::Chain(const CostTables& tables, bool is_first_layer) : tables_(&tables), is_first_layer_(is_first_layer) {
  const std::size_t nodes = tables.nodes.size();
  own_.emplace_back(is_first_layer ? 1 : tables.nodes.back().size(), 0.0);
  for (const std::vector<Time>& node : tables.nodes) own_.emplace_back(node.begin(), node.end());
  for (const CostTables::Edge& edge : tables.edges) {
    if (edge.to_next_layer && static_cast<std::size_t>(edge.from) + 1 != nodes)
      throw InternalError("another operator than the last one of a layer is read by the next layer");
  }
  bounds_.push_back(0);
  for (std::size_t place = 1; place < nodes; ++place) {
    const bool is_read_later = std::any_of(tables.edges.begin(), tables.edges.end(), [&](const auto& edge) {
      return source(edge) == place && target(edge) > place + 1;
    });
    if (is_read_later) bounds_.push_back(place);
  }
  bounds_.push_back(nodes);
}

std::size_t Chain::source(const CostTables::Edge& edge) const {
  return edge.to_next_layer ? 0 : static_cast<std::size_t>(edge.from) + 1;
}

const TimeMatrix* Chain::edge(std::size_t from, std::size_t to) const {
  for (const CostTables::Edge& edge : tables_->edges) {
    if (source(edge) == from && target(edge) == to && !(edge.to_next_layer && is_first_layer_)) return &edge.times;
  }
  return nullptr;
}

std::optional<std::size_t> Chain::carried_node() const {
  for (std::size_t i = 1; i + 1 < bounds_.size(); ++i) {
    const std::size_t begin = bounds_[i], end = bounds_[i + 1];
    const bool is_live = std::any_of(tables_->edges.begin(), tables_->edges.end(), [&](const auto& edge) {
      const std::size_t from = source(edge), to = target(edge);
      return from == begin ? to > end : from == 0 && to > begin && to < end;
    });
    if (is_live) return begin - 1;
  }
  return std::nullopt;
}

CostTables with_choice(const CostTables& tables, std::size_t node, std::size_t choice) {
  CostTables found;
  found.nodes = tables.nodes;
  found.handover = tables.handover;
  found.nodes[node] = {tables.nodes[node][choice]};
  for (const CostTables::Edge& edge : tables.edges) {
    const auto from = static_cast<std::size_t>(edge.from), to = static_cast<std::size_t>(edge.to);
    const TimeMatrix& all = edge.times;
    TimeMatrix times = all;
    if (from == node) {
      times = {1, all.columns, {}};
      for (std::size_t j = 0; j < all.columns; ++j) times.times.push_back(all.at(choice, j));
      if (to > from + 1) {
        for (std::size_t j = 0; j < all.columns; ++j) found.nodes[to][j] += times.times[j];
        continue;
      }
    } else if (to == node) {
      times = {all.rows, 1, {}};
      for (std::size_t i = 0; i < all.rows; ++i) times.times.push_back(all.at(i, choice));
    }
    found.edges.push_back({edge.from, edge.to, edge.to_next_layer, std::move(times)});
  }
  return found;
}

}  // namespace tessera::strategy::primepar
