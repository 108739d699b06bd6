// How often a stream beside the main one does something.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <limits>

#include "tessera/base/error.hpp"

namespace tessera::strategy::megatron {

/// KeyError where that is more often than a block is called.
[[nodiscard]] inline std::uint32_t beside_count(std::int64_t uses, std::int64_t micro_batches) {
  const std::int64_t times = uses * micro_batches;
  if (times > std::numeric_limits<std::uint32_t>::max())
    throw KeyError("workload.global_batch",
                   fmt::format("{} collectives beside products on a stage, allowed: at most 2^32 - 1; larger "
                               "micro-batches make fewer",
                               times));
  return static_cast<std::uint32_t>(times);
}

}  // namespace tessera::strategy::megatron
