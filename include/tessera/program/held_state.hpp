// What a device holds from the first to the last moment of an iteration.
#pragma once

#include "tessera/program/program.hpp"

namespace tessera::program {

/// B.
struct HeldState {
  std::int64_t weights = 0, gradients = 0, optimizer_state = 0, kv_cache = 0, buffers = 0;
};

/// At the start of the main stream.
inline void allocate(BlockBuilder& main, const HeldState& state) {
  main.allocate(MemoryCategory::weights, state.weights)
      .allocate(MemoryCategory::gradients, state.gradients)
      .allocate(MemoryCategory::optimizer_state, state.optimizer_state)
      .allocate(MemoryCategory::kv_cache, state.kv_cache)
      .allocate(MemoryCategory::buffers, state.buffers);
}

}  // namespace tessera::program
