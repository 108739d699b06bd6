// Channels of messages: those of `send` and `receive` are the program's own numbers, those of collectives lie above
// them.
#pragma once

#include <cstdint>

#include "tessera/program/program.hpp"

namespace tessera::sim {

inline constexpr std::uint32_t first_collective_channel = 0x8000'0000U;
inline constexpr unsigned lane_bits = 10;
inline constexpr program::GroupId group_limit = 1U << (31 - lane_bits);

/// One for each lane of each group, so that collectives of different groups never mix.
[[nodiscard]] constexpr std::uint32_t collective_channel(program::GroupId group, std::uint16_t lane) {
  return first_collective_channel | group << lane_bits | lane;
}
[[nodiscard]] constexpr bool is_collective(std::uint32_t channel) { return channel >= first_collective_channel; }
[[nodiscard]] constexpr program::GroupId group_of(std::uint32_t channel) {
  return (channel & ~first_collective_channel) >> lane_bits;
}

}  // namespace tessera::sim
