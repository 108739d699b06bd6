// A program that uses everything at once, on a machine with switches, for comparisons between runs.
#pragma once

#include "program_case.hpp"

namespace tessera::test {

/// Nodes of four devices behind a switch each, and one switch that joins the nodes. Every device computes, passes
/// messages round a ring over all devices, takes part in collectives of its node, across nodes, and of all devices
/// in four rings, some of them beside compute, from which they take cores.
[[nodiscard]] ProgramCase busy_program(machine::NodeId nodes, std::uint32_t rounds);

}  // namespace tessera::test
