// What a kernel will move, counted from its description alone: for estimates of how long its simulation takes.
#pragma once

#include <cstdint>

#include "tessera/machine/gpu.hpp"
#include "tessera/program/kernel.hpp"

namespace tessera::sim {

struct KernelVolume {
  /// Of the memory: loads that the L2 does not serve, stores, updates, reads of DMAs.
  std::int64_t transactions = 0;
  /// What is loaded together: chunks of k of all work-groups; units of a pass round the ring.
  std::int64_t loads = 0;
  std::int64_t messages = 0;  ///< sent
  std::int64_t bytes_sent = 0;
};

/// Of member `rank` of `ranks`. Exact but for two things: work-groups that run at the same time are taken to share what
/// they load, and those of different stages not to, unless the L2 holds both operands; and what comes from others is
/// taken to be as much as is sent to them, which holds over a whole group.
[[nodiscard]] KernelVolume kernel_volume(const program::Kernel& kernel, const machine::GpuSpec& spec,
                                         std::uint32_t rank, std::uint32_t ranks);

}  // namespace tessera::sim
