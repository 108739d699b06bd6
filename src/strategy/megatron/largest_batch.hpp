// How many sequences fit into the devices' memory.
#pragma once

#include <cstdint>

#include "cut.hpp"

namespace tessera::strategy::megatron {

/// Outside training: sequences of all replicas, the most that a device of each stage has room for when they are cut as
/// this cut is, by what devices hold from the beginning to the end. One more for each replica, or one more of its
/// micro-batches where their size is given, does not fit. 0: not even one does.
[[nodiscard]] std::int64_t largest_batch(const Cut& cut);

}  // namespace tessera::strategy::megatron
