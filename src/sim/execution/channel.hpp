// Channels of messages: those of `send` and `receive` are the program's own numbers, those of collectives lie above
// them.
#pragma once

#include <cstdint>

#include "tessera/program/collective.hpp"
#include "tessera/program/program.hpp"

namespace tessera::sim {

inline constexpr std::uint32_t first_collective_channel = 0x8000'0000U;
inline constexpr unsigned lane_bits = 10;
inline constexpr program::GroupId group_limit = 1U << (31 - lane_bits);

/// One for each lane of each group, so that collectives of different groups never mix.
[[nodiscard]] constexpr std::uint32_t collective_channel(program::GroupId group, std::uint16_t lane) {
  return first_collective_channel | group << lane_bits | lane;
}
/// Blocks of kernels: a channel for each memory and kernel of a group; `number` counts the kernels of the group, modulo
/// 128, which no member is ahead of another. Collectives have fewer lanes.
inline constexpr std::uint32_t kernel_lane = 1U << (lane_bits - 1);
static_assert(program::most_rings <= kernel_lane);
[[nodiscard]] constexpr std::uint32_t kernel_channel(program::GroupId group, std::uint32_t memory,
                                                     std::uint32_t number) {
  return first_collective_channel | group << lane_bits | kernel_lane | memory << 8U | (number & 127U);
}
[[nodiscard]] constexpr bool is_kernel(std::uint32_t channel) {
  return channel >= first_collective_channel && (channel & kernel_lane) != 0;
}
/// The same kernel's blocks that a switch adds to those of the other members.
inline constexpr std::uint32_t combined_lane = 128;
[[nodiscard]] constexpr bool is_combined(std::uint32_t channel) {
  return is_kernel(channel) && (channel & combined_lane) != 0;
}
[[nodiscard]] constexpr std::uint32_t memory_of(std::uint32_t channel) { return channel >> 8U & 1U; }

[[nodiscard]] constexpr bool is_collective(std::uint32_t channel) { return channel >= first_collective_channel; }
[[nodiscard]] constexpr program::GroupId group_of(std::uint32_t channel) {
  return (channel & ~first_collective_channel) >> lane_bits;
}
[[nodiscard]] constexpr std::uint16_t lane_of(std::uint32_t channel) {
  return static_cast<std::uint16_t>(channel & ((1U << lane_bits) - 1));
}

}  // namespace tessera::sim
