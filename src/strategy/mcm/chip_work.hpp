// What each chip of a partition runs, holds and exchanges.
#pragma once

#include <cstdint>
#include <vector>

#include "options.hpp"
#include "package.hpp"

namespace tessera::strategy::mcm {

/// Data that go from chip to chip with each input.
struct Exchange {
  ChipId chip = 0;         ///< the other one
  std::int64_t bytes = 0;  ///< of each input, each tensor once
  std::int64_t depth = 1;  ///< inputs that the sender may be ahead of the receiver: so many buffers
};

/// One node's turn on a chip.
struct Turn {
  workload::GraphNodeId node = 0;
  std::int64_t allocates = 0;  ///< B: before it runs, for what stays on the chip and what the host has handed over
  std::int64_t releases = 0;   ///< B: behind it, of what has no reader left here
};

struct ChipWork {
  std::vector<Turn> turns;         ///< nodes, copies of replicated ones among them, in the order in which they run
  std::int64_t weights = 0;        ///< B: parameters and constants that its nodes read, each once
  std::int64_t sent = 0;           ///< B: of tensors that leave the chip, each once
  std::int64_t send_buffers = 2;   ///< inputs for which there is room for these
  std::vector<Exchange> from, to;  ///< chips ascending
  std::int64_t held = 0;           ///< B: most that turns hold
};

/// By chip. The partition is valid. Where other chips are on the longest way from one to the other, Exchange::depth is
/// that many more than the rules' depth of neighbours.
[[nodiscard]] std::vector<ChipWork> chip_work(const Package& package, const Partition& partition,
                                              const PipelineRules& rules);

/// B: all that a chip holds at its peak, the same as what its program allocates.
[[nodiscard]] std::int64_t peak_bytes(const ChipWork& work);

}  // namespace tessera::strategy::mcm
