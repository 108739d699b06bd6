// What a device holds from the first to the last moment of an iteration.
#pragma once

#include "tessera/program/program.hpp"

namespace tessera::program {

struct HeldState {
  Bytes weights{}, gradients{}, optimizer_state{}, kv_cache{}, buffers{};
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
