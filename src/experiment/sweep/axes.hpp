// The axes of a sweep: what is varied, and over which values.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tessera/base/config.hpp"
#include "tessera/experiment/sweep.hpp"

namespace tessera::experiment::sweep {

struct AxisValue {
  std::string text;     ///< in names of points: "8", "75 GB/s", or the name of a table
  config::Value value;  ///< of the key; a table's entries come over those that are there
  Cell cell;
};

struct Axis {
  std::string key;  ///< "machine.topology.nodes"
  config::Location where;
  std::vector<AxisValue> values;  ///< at least one; all differ
  std::string unit;               ///< of the cells: "", "name", "B", "ps", "B/s", "FLOP/s", "Hz", "um"
};

struct Axes {
  std::vector<Axis> axes;                        ///< in the order of the file
  std::vector<std::vector<std::size_t>> groups;  ///< axes that move together; the last group moves first
  [[nodiscard]] std::size_t length(std::size_t group) const { return axes[groups[group].front()].values.size(); }
};

/// Of a [sweep] table. Problems go to `diagnostics`.
[[nodiscard]] Axes read_axes(const config::Table& sweep, config::Diagnostics& diagnostics);

/// Values of all axes together: each takes some hundred bytes.
inline constexpr std::int64_t most_axis_values = 1'000'000;
/// An axis that has `count` and so makes them more.
[[nodiscard]] std::string too_many_values(const std::string& key, std::int64_t count);

/// { from = ..., to = ..., steps = ..., scale = ... } as a list. More than `most` are counted and refused before there
/// is any.
[[nodiscard]] std::vector<config::Value> range_of(const std::string& key, const config::Value& range, std::int64_t most,
                                                  config::Diagnostics& diagnostics);
[[nodiscard]] bool is_range(const config::Value& value);

// For `tessera help`, and unknown keys.
[[nodiscard]] const config::SchemaBase& sweep_schema();
[[nodiscard]] const config::SchemaBase& range_schema();

}  // namespace tessera::experiment::sweep
