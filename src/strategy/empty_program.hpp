// What every strategy's program begins with.
#pragma once

#include "tessera/strategy/strategy.hpp"

namespace tessera::strategy {

/// A program in which no device of the job's machine does anything yet.
inline program::Program empty_program(const Job& job) {
  program::Program program;
  program.labels = {""};
  program.free_reductions = job.collectives.reduction == "free";
  program.channels = static_cast<std::uint32_t>(job.collectives.channels);
  program.devices.resize(job.machine.devices());
  return program;
}

}  // namespace tessera::strategy
