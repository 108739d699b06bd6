// Keyed random clusters with replicas that do the same side by side, and meet in collectives.
#pragma once

#include "program_case.hpp"

namespace tessera::test {

/// Case `index`: nodes behind a switch or a fat tree; on them replicas, one after another or mixed, with operators,
/// messages and collectives within each, over all that have the same part, and over everybody.
[[nodiscard]] ProgramCase random_replicas(std::uint64_t index);

}  // namespace tessera::test
