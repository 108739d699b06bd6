// What a device holds from the first to the last moment of an iteration: parameters, gradients, optimizer state, KV
// cache and buffers.
#pragma once

#include "writer.hpp"

namespace tessera::strategy::megatron {

/// Of one device of a stage.
struct DeviceState {
  std::int64_t layers = 0;                           ///< of the stage, modules that predict further ahead among them
  std::int64_t dense = 0;                            ///< parameters apart from those of experts
  std::int64_t expert = 0;                           ///< parameters of experts
  std::int64_t replicated = 0;                       ///< of the dense ones, those that every tensor rank holds alike
  std::int64_t partial = 0;                          ///< of the replicated, those that see the heads of one rank alone
  std::int64_t edge = 0;                             ///< of the dense ones, those of embedding and head
  std::int64_t linear_dense = 0, linear_expert = 0;  ///< weights of linear layers among them
  std::int64_t frozen = 0;  ///< parameters besides all of these, of which there are weights alone
  std::int64_t tied = 0;    ///< embedding that the first and the last stage both hold; 0: none or one stage
  std::int64_t updated_dense = 0, updated_expert = 0;  ///< whose optimizer state it holds
  std::int64_t held = 0;                               ///< whose weights it holds: all of its share, or what is updated
  std::int64_t summed = 0;                             ///< whose gradients it adds up, likewise
  std::int64_t kv_cache = 0;                           ///< B
  std::int64_t buffers = 0;                            ///< B

  [[nodiscard]] std::int64_t parameters() const { return dense + expert; }
  [[nodiscard]] std::int64_t linear_weights() const { return linear_dense + linear_expert; }
  [[nodiscard]] std::int64_t updated() const { return updated_dense + updated_expert; }
};

/// B, of the buffers of passes: the whole input of a column-parallel layer, gathered under sequence parallelism, and
/// what is under way between the stages in each direction; outside training also what is between two kernels.
[[nodiscard]] std::int64_t pass_buffers(const Cut& cut, std::uint32_t stage);
[[nodiscard]] DeviceState device_state(const Cut& cut, std::uint32_t stage);
[[nodiscard]] workload::OptimizerShape optimizer_shape(const Cut& cut, const DeviceState& state);
/// B: what a device of that stage holds from the beginning to the end.
[[nodiscard]] std::int64_t held_bytes(const Cut& cut, const DeviceState& state);
/// Allocates it all, at the start of the main stream.
void allocate_state(Writer& writer, const DeviceState& state);

}  // namespace tessera::strategy::megatron
