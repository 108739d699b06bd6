// The columns of a merged sweep, and how its rows fill them.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/results/points.hpp"
#include "tessera/results/sweep_folder.hpp"

namespace tessera::results {

/// A column, and its cell of a row.
struct Source {
  PointColumn column;
  std::function<PointCell(const SweepRow&)> cell;
};

/// Code, message, every column of /summary, use of link classes, memory by category: those that any row has, in the
/// order in which rows first have them.
[[nodiscard]] std::vector<Source> outcome_columns(const std::vector<SweepRow>& rows);

/// One for each axis of the sweep, in their order. Names are the last parts of the keys, or, where two end alike or
/// that name is `taken`, whole keys; times end in _ps.
[[nodiscard]] std::vector<Source> axis_columns(const SweepHead& head, const std::vector<SweepRow>& rows,
                                               std::set<std::string> taken);

/// Everything but letters and digits becomes _.
[[nodiscard]] std::string identifier(std::string_view text);
/// Of pairs of a name and a value; none where that name is not there.
[[nodiscard]] PointCell value_in(const std::vector<std::pair<std::string, PointCell>>& pairs, std::string_view name);

}  // namespace tessera::results
