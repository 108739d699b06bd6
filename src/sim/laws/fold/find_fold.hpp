// Which parts of a program may be simulated for all (fold.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "sim/laws/fold/fold.hpp"
#include "tessera/machine/machine.hpp"
#include "tessera/program/collective.hpp"

namespace tessera::sim {

/// A fold, or why there is none.
struct FoundFold {
  std::unique_ptr<Fold> fold;  ///< null where a problem is said
  std::string problem;
};

/// Which folds are looked for (fold.hpp): of each size of block by shifts alone, or by ends too where no shift is
/// found.
enum class FoldWays : std::uint8_t { shifts, ends_too };

/// The least block of parts that is like all others. Compared are instructions, speeds, peers, groups and steps
/// of collectives, and on all ways that messages take, links, their rates and latencies, and the order of component
/// numbers, which decides what comes first of what comes at the same time.
[[nodiscard]] FoundFold find_fold(const machine::Machine& machine, program::Lowerings& lowerings,
                                  const NetworkTables& tables, const program::AlikeParts& alike,
                                  FoldWays ways = FoldWays::ends_too);

}  // namespace tessera::sim
