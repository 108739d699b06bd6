// Keyed random programs of ring collectives with late members, and flows that come between.
#pragma once

#include "program_case.hpp"

namespace tessera::test {

/// Case `index`: a random network, and on it rings on two streams, messages from device to device, and operators.
[[nodiscard]] ProgramCase random_rings(std::uint64_t index);

}  // namespace tessera::test
