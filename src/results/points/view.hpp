// A table of points with its columns by name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tessera/results/points.hpp"

namespace tessera::results {

struct View {
  const PointsTable& table;

  [[nodiscard]] std::optional<std::size_t> column(std::string_view name) const {
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      if (table.columns[i].name == name) return i;
    }
    return std::nullopt;
  }
  /// Of a row; 0 where the table has no such column of integers.
  [[nodiscard]] std::int64_t integer(std::size_t row, std::string_view name) const {
    const auto at = column(name);
    const auto* value = at ? std::get_if<std::int64_t>(&table.rows[row][*at]) : nullptr;
    return value == nullptr ? 0 : *value;
  }
  [[nodiscard]] std::string text(std::size_t row, std::string_view name) const {
    const auto at = column(name);
    const auto* value = at ? std::get_if<std::string>(&table.rows[row][*at]) : nullptr;
    return value == nullptr ? "" : *value;
  }
  [[nodiscard]] double number(std::size_t row, std::string_view name) const {
    const auto at = column(name);
    const auto* value = at ? std::get_if<double>(&table.rows[row][*at]) : nullptr;
    return value == nullptr ? 0 : *value;
  }
  [[nodiscard]] Time time(std::size_t row) const {
    return integer(row, "code") == 0 ? integer(row, "iteration_time_ps") : 0;
  }
  /// Whether the row's machine is simulated with rates of its data sheet alone. Files of earlier versions do not say.
  [[nodiscard]] bool is_uncalibrated(std::size_t row) const {
    return text(row, "calibration").starts_with("uncalibrated");
  }
  /// The row's number where the table has none of its own.
  [[nodiscard]] std::int64_t point(std::size_t row) const {
    return column("point") ? integer(row, "point") : static_cast<std::int64_t>(row);
  }
};

}  // namespace tessera::results
