// What a run will be like, from the program alone: for `tessera check` and the progress display.
#pragma once

#include <cstdint>

#include "tessera/experiment/experiment.hpp"

namespace tessera::app {

struct Estimate {
  std::int64_t devices = 0;       ///< that take part
  program::DeviceId fullest = 0;  ///< device with the highest peak
  program::MemoryPeak peak;       ///< of that device
  double bytes_sent = 0;          ///< by all devices
  double messages = 0;
  double executed_flops = 0;
  double events = 0;       ///< of the simulation, over all ranks: the least, when no flows share a link
  double most_events = 0;  ///< when every packet on every link is an event
  double bytes_of_simulation =
      0;  ///< memory of the simulator itself, over all ranks, without what each process needs anyway
};

[[nodiscard]] Estimate estimate(const experiment::Experiment& experiment);

/// Memory that a process needs before it simulates anything (MPI, libraries, program).
inline constexpr double bytes_of_a_process = 28e6;

}  // namespace tessera::app
