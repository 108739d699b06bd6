// Keyed random ways for messages.
#pragma once

#include <cstdint>
#include <vector>

#include "program_case.hpp"

namespace tessera::test {

/// Case `index`: some of the connections are bound, to one of the shortest ways or to any that passes no node twice.
/// Live links only.
[[nodiscard]] std::vector<machine::BoundWay> random_ways(std::uint64_t index, const machine::Machine& machine,
                                                         std::vector<machine::Connection> connections);
/// Of the connections of messages.
[[nodiscard]] std::vector<machine::BoundWay> random_ways(std::uint64_t index, const machine::Network& network,
                                                         const std::vector<TestMessage>& messages);
/// The program, with ways for some of what it sends.
[[nodiscard]] ProgramCase with_random_ways(std::uint64_t index, ProgramCase made);

}  // namespace tessera::test
