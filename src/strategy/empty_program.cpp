#include "tessera/strategy/strategy.hpp"

namespace tessera::strategy {

program::Program empty_program(const Job& job) {
  program::Program program;
  program.labels = {""};
  program.free_reductions = job.collectives.reduction == "free";
  program.channels = static_cast<std::uint32_t>(job.collectives.channels);
  if (job.cost.memory_traffic().is_shared) program.memory_packet = job.cost.memory_traffic().packet.value();
  program.issue_interval = job.cost.issue_interval();
  program.devices.resize(job.machine.devices());
  return program;
}

}  // namespace tessera::strategy
