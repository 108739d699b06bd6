// Numbers of an experiment as expressions and tables of a sweep see them.
#pragma once

#include <optional>
#include <string>

#include "tessera/base/config.hpp"
#include "tessera/experiment/sweep.hpp"

namespace tessera::experiment::sweep {

/// A number and what it is of; no unit: a plain number.
struct Amount {
  double value = 0;  ///< in base units: B, s, FLOP, mm
  std::optional<config::Unit> unit = {};
};

/// The size of the base units in others, by which expressions are told apart that mix dimensions.
struct BaseUnits {
  double byte = 1, second = 1, flop = 1, millimetre = 1, watt = 1;
  /// Of an amount in these units.
  [[nodiscard]] double scale(const std::optional<config::Unit>& unit) const;
};

/// The quantity that a text is, of whatever dimension: its unit, and the count of B, ps, B/s, FLOP/s, Hz, um or mW.
struct CountOf {
  config::Unit unit = config::Unit::bytes;
  std::int64_t count = 0;
};
[[nodiscard]] std::optional<CountOf> count_of(const std::string& text);

/// Nothing: the value is no number, no quantity, and not true or false (1 or 0).
[[nodiscard]] std::optional<Amount> amount_of(const config::Value& value);

/// "B", "ps", "B/s", "FLOP/s", "Hz", "um"
[[nodiscard]] std::string name_of(config::Unit unit);

/// How many are counted of a base unit: ps of seconds, um of millimetres, one of all others.
[[nodiscard]] double counts_in(const std::optional<config::Unit>& unit);

/// The nearest count of an amount, of ps or of base units; nothing: it is beyond 2^63, or none.
[[nodiscard]] std::optional<std::int64_t> to_count(double value, const std::optional<config::Unit>& unit);

/// What stands in a table of points; text is "8", "75 GB/s", "a100-80g-cluster".
[[nodiscard]] Cell cell_of(const config::Value& value);
[[nodiscard]] std::string text_of(const config::Value& value);

}  // namespace tessera::experiment::sweep
