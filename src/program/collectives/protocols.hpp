// The fastest protocol of a collective.
#pragma once

#include "tessera/program/collective.hpp"

namespace tessera::program {

struct TimeOnWire {
  OnWire wire;
  double time = 0;  ///< ps, without reductions
};
/// Of those of the collective's algorithm; without protocols, none, and the closed form of the algorithm. Nothing of a
/// group that the algorithm refuses.
[[nodiscard]] TimeOnWire fastest_on_wire(const Collective& collective, const Group& group,
                                         const machine::Machine& machine);

}  // namespace tessera::program
