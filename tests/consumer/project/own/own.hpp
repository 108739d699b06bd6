// A topology and a collective algorithm from outside, which experiments name like the built-in ones.
#pragma once

#include "tessera/machine/topology.hpp"
#include "tessera/program/collective.hpp"

namespace own {
/// "hub": every device linked to one hub.
[[nodiscard]] tessera::machine::TopologyKind hub_topology();
/// "star": everyone to the first member and back.
[[nodiscard]] tessera::program::AlgorithmPointer star_collective();
}  // namespace own
