// Few choices of each operator, among which many searches cost little.
#pragma once

#include <vector>

#include "../costs/costs.hpp"

namespace tessera::strategy::primepar {

struct Narrowed {
  CostTables tables;
  std::vector<Choice> kept;  ///< by node: which of the whole tables' choices there are, in their order

  /// Choices of the whole tables.
  [[nodiscard]] std::vector<Choice> widened(const std::vector<Choice>& layers) const;
};

/// These choices of each node, by node.
[[nodiscard]] Narrowed only(const CostTables& tables, std::vector<Choice> kept);

/// At most about so many choices of each operator: those of `always`, and those that cost the least with what is
/// redistributed before and behind them at the least. Half of all is left out at a time, so that what is far from
/// everything that is good no longer counts as somebody's cheapest neighbour. What costs too_much is left out at once.
[[nodiscard]] Narrowed narrowed(const CostTables& tables, const std::vector<Choice>& always, std::size_t most);

}  // namespace tessera::strategy::primepar
