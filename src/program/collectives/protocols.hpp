// The fastest protocol of a collective.
#pragma once

#include "tessera/program/collective.hpp"

namespace tessera::program {

struct Fastest {
  OnWire wire;
  double time = 0;  ///< ps, without reductions
};
/// Of those of the collective's algorithm; where it has none, the closed form without. The algorithm fits the group.
[[nodiscard]] Fastest fastest_on_wire(const Collective& collective, const Group& group,
                                      const machine::Machine& machine);

}  // namespace tessera::program
