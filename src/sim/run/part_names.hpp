// What the timeline of a program calls its streams and groups.
#pragma once

#include "tessera/program/program.hpp"
#include "tessera/results/results.hpp"

namespace tessera::sim {

void name_parts(const machine::Machine& machine, const program::Program& program, results::RunResults& results);

}  // namespace tessera::sim
