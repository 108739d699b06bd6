// The operators of a layer as a chain of places, as a search goes along it.
#pragma once

#include <optional>
#include <vector>

#include "../costs/costs.hpp"
#include "min_plus.hpp"

namespace tessera::strategy::primepar {

/// Place 0 is the last operator of the layer before, which costs nothing here, or, before the first layer, nobody, with
/// one choice. The layer's operators follow.
class Chain {
 public:
  /// Throws InternalError where another operator than a layer's last one is read by the next layer. The tables outlive
  /// it.
  Chain(const CostTables& tables, bool is_first_layer);

  [[nodiscard]] std::size_t size() const { return tables_->nodes.size() + 1; }
  [[nodiscard]] std::size_t choices(std::size_t place) const { return own(place).size(); }
  /// What the places cost themselves.
  [[nodiscard]] const std::vector<double>& own(std::size_t place) const { return own_[place]; }
  /// Redistribution from one place to another; null where there is none.
  [[nodiscard]] const TimeMatrix* edge(std::size_t from, std::size_t to) const;
  /// Places at which segments begin, and the last one.
  [[nodiscard]] const std::vector<std::size_t>& bounds() const { return bounds_; }
  /// The first operator that begins a segment and is read behind it, or in whose segment one reads the layer before, so
  /// that both are needed there; none: segments can be merged from the first on.
  [[nodiscard]] std::optional<std::size_t> carried_node() const;

 private:
  [[nodiscard]] std::size_t source(const CostTables::Edge& edge) const;
  [[nodiscard]] std::size_t target(const CostTables::Edge& edge) const { return static_cast<std::size_t>(edge.to) + 1; }

  const CostTables* tables_;
  bool is_first_layer_;
  std::vector<std::vector<double>> own_;  // by place
  std::vector<std::size_t> bounds_;
};

/// The tables with that choice alone for that node; what others than its successor read of it is part of their costs.
[[nodiscard]] CostTables with_choice(const CostTables& tables, std::size_t node, std::size_t choice);

}  // namespace tessera::strategy::primepar
