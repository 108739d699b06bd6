// What a key of an experiment is, from the schemas that also read it.
#pragma once

#include <optional>
#include <string>

#include "tessera/base/config.hpp"
#include "tessera/strategy/strategy.hpp"

namespace tessera::experiment::sweep {

struct Parameter {
  enum class Sort { whole, number, quantity, boolean, other };
  Sort sort = Sort::other;  ///< other: a text, a choice, a list, a table
  config::Unit unit = config::Unit::bytes;
};

/// Of a resolved experiment, whose own names (of strategy, topology, cost model) say which schemas hold. Nothing, and
/// the nearest name is suggested at `where`: there is no such key.
[[nodiscard]] std::optional<Parameter> find_parameter(const config::Table& resolved, const std::string& key,
                                                      const Parts& parts, const config::Location& where,
                                                      config::Diagnostics& diagnostics);

}  // namespace tessera::experiment::sweep
