// Weights that hosts hold (weight_streaming = "hosts"): of each unit a device asks its host for its part, gathers the
// unit with the other replicas, and sends its part of the summed gradients back. What hosts do with gradients is no
// part of the iteration: they have no compute.
//
//   in      wait for room of a part | ask | receive | raise part_here
//   beside  wait part_here | all-gather | room        wait for room | reduce-scatter | raise sum_here
//   out     wait sum_here | send | wait until the host says that it has come | room
//   host    a stream that answers, and one that takes, for each device
//
// A device has room for two parts and two sums of them. Where there is one replica a part is the unit itself, in its
// own buffer.
#pragma once

#include "sharding_stream.hpp"

namespace tessera::strategy::megatron {

/// Of each device that takes part, by rank, the nearest host.
[[nodiscard]] std::vector<program::DeviceId> weight_hosts_of(const Cut& cut, const machine::Machine& machine);
/// B: room for parts and their sums on a device.
[[nodiscard]] std::int64_t part_buffers(const Cut& cut);

/// On the stream that gathers and sums: at its start; around an all-gather; around a reduce-scatter. Nothing where
/// weights are not on hosts, but that begin_gradients() gives the main stream room for the first gradients.
void begin_parts(Writer& beside);
void begin_gradients(Writer& beside);
void take_part(Writer& beside);
void end_gather(Writer& beside);
void take_sum_room(Writer& beside);
void end_reduction(Writer& beside);

/// The streams of a device that go to its host and come from it.
void add_part_streams(program::Program& program, const Cut& cut, const UnitUses& uses,
                      std::vector<program::BlockId>& streams);
/// What the slots of a device, and those of the hosts, stand for, and what hosts do; behind the layout.
void add_weight_hosts(program::Program& program, const Cut& cut, const UnitUses& uses);

}  // namespace tessera::strategy::megatron
