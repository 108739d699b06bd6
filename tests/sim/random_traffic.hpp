// Keyed random networks and traffic.
#pragma once

#include "tessera/base/random.hpp"
#include "traffic.hpp"

namespace tessera::test {

struct RandomCase {
  machine::Network network;
  std::vector<TestMessage> messages;
};

/// Case `index`: a ring, a mesh, a tree of switches or a random graph, with links of different speeds, and messages of
/// odd and even sizes at times that often coincide.
[[nodiscard]] RandomCase random_case(std::uint64_t index, std::int64_t longer = 1);

}  // namespace tessera::test
