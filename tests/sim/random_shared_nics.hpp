// Keyed random programs in which many flows share a link: rings over the NIC of a node, and exchanges of short
// messages.
#pragma once

#include "program_case.hpp"

namespace tessera::test {

/// Case `index`: a cluster whose GPUs share NICs, and rings over it, one for each GPU of a node, of messages of one to
/// hundreds of packets; some members are late, and messages from device to device come between.
[[nodiscard]] ProgramCase random_shared_nics(std::uint64_t index);
/// Case `index`: a cluster, and all-to-alls over it with one to three packets a message, one after another.
[[nodiscard]] ProgramCase random_exchanges(std::uint64_t index);

}  // namespace tessera::test
