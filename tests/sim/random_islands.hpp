// Keyed random programs whose parts go round loops of their own for a while, and meet in between.
#pragma once

#include <cstdint>

#include "random_sites.hpp"

namespace tessera::test {

/// Nodes behind a switch, each a part.
[[nodiscard]] ProgramCase random_islands(std::uint64_t index);
/// The same on a machine without switches.
[[nodiscard]] ProgramCase random_islands_on(SiteKind kind, std::uint64_t index);

}  // namespace tessera::test
