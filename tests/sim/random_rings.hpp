// Keyed random programs of ring collectives with late members, and flows that come between.
#pragma once

#include <string>

#include "program_case.hpp"

namespace tessera::test {

/// Case `index`: a random network, and on it rings on two streams, messages from device to device, and operators.
/// `algorithm`: of all rings that can have it; empty: various.
[[nodiscard]] ProgramCase random_rings(std::uint64_t index, const std::string& algorithm = "");
/// The same on 7 to 18 devices: on two ranks and more, most members of rings have their neighbours on their own rank.
[[nodiscard]] ProgramCase random_large_rings(std::uint64_t index, const std::string& algorithm = "");

}  // namespace tessera::test
