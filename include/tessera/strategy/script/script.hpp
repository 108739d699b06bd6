// Strategy "script": a program written out in TOML, for micro-benchmarks, tests and what no other strategy does
// (docs/collectives.md).
//
//   [strategy]
//   name = "script"
//   [[strategy.group]]
//   name = "node"
//   devices = "0-63"
//   size = 8                       # eight groups of eight
//   [[strategy.step]]
//   op = "all-reduce"
//   group = "node"
//   bytes = "24 MB"
//   algorithm = "ring"
//   repeat = 2000
#pragma once

#include "tessera/strategy/strategy.hpp"

namespace tessera::strategy::script {

/// For built_in_strategies(). Mistakes of a script are reported where they stand in the file: devices that do not
/// exist, groups of one name that share a device, names that are not defined, keys that an op does not take,
/// collectives that do not fit their group. What devices do to each other (a receive without a send) is left to
/// program::check_program.
[[nodiscard]] StrategyKind kind();

}  // namespace tessera::strategy::script
