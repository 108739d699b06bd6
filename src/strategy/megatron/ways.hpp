// Ways of what stages send to each other (docs/megatron.md#ways).
#pragma once

#include "cut.hpp"

namespace tessera::strategy::megatron {

/// Binds all that goes between stages, activations, gradients and loans, to ways where the table asks for it. Expects
/// the peers of all devices.
void bind_ways(const Cut& cut, const machine::Machine& machine, program::Program& program);

/// Links of bound ways, a link a row.
[[nodiscard]] DataTable ways_table(const std::vector<machine::BoundWay>& ways);

}  // namespace tessera::strategy::megatron
