// Weights, gradients and optimizer state cut over the replicas (ZeRO-3, Rajbhandari et al. 2020; PyTorch's FSDP, Zhao
// et al. 2023). A unit (a layer, the embedding, the head) is gathered before its forward and again before its backward
// pass, and its gradients are reduce-scattered behind that. One stream beside the main one does both, in the order in
// which the main one needs it, as one communicator does:
//
//   main stream    wait gathered | forward of unit j | signal done      wait gathered, room | backward | signal done
//   beside         wait done of unit j: its buffer is free | reduce-scatter, if that was backward | gather unit j + L
//
// L = gather_ahead + 1 units are whole at most, and the gradients of two. Where weights stay whole (ZeRO-2) nothing is
// gathered there, and forward passes have no part in it.
#pragma once

#include <vector>

#include "writer.hpp"

namespace tessera::strategy::megatron {

/// Units whose gradients a device has room for.
inline constexpr std::uint32_t gradient_buffers = 2;

/// What is gathered together: an end of the model, or a layer of some kind (layer_unit).
enum class Unit : std::uint32_t { embedding, head, first_layer };
[[nodiscard]] constexpr Unit layer_unit(std::uint32_t kind) {
  return static_cast<Unit>(static_cast<std::uint32_t>(Unit::first_layer) + kind);
}
/// Of a chunk of a stage, in the order of its forward pass.
[[nodiscard]] std::vector<Unit> units_of(const Cut& cut, std::uint32_t stage, std::uint32_t chunk);

/// Parameters of a device, by whom it shares them with.
struct UnitParameters {
  std::int64_t dense = 0;   ///< with the replicas of its tensor rank
  std::int64_t expert = 0;  ///< with those that hold the same experts
};
/// What a device holds of all units of a stage: its parts, each of as many elements as those of the other replicas.
[[nodiscard]] UnitParameters held_parts(const Cut& cut, std::uint32_t stage);
/// Experts that no other device of a group has parts of are always where they are needed, unless they come from hosts;
/// those that no other device at all holds have their gradients added up there.
[[nodiscard]] bool experts_stay(const Cut& cut);
[[nodiscard]] bool sums_experts_in_place(const Cut& cut);
/// All parameters of a unit, a tied output weight too: it is that of the embedding, gathered for both, and has
/// gradients of both.
[[nodiscard]] UnitParameters used_by(const Cut& cut, Unit unit);
/// The part of one replica, or of one of those that hold the same experts, of what leaves as gradients.
[[nodiscard]] std::int64_t part_of_unit(const Cut& cut, Unit unit);
/// B: room for whole units, and for their gradients.
[[nodiscard]] std::int64_t unit_buffers(const Cut& cut, std::uint32_t stage);
/// The part of one replica.
[[nodiscard]] std::int64_t part_of(const Cut& cut, std::int64_t parameters);

/// Around what the main stream does with a unit: it waits until that is whole; has room for its gradients; gives it up.
void take_unit(Writer& main);
void take_gradient_room(Writer& main);
void give_up_unit(Writer& main);

/// Around the forward and the backward pass of a unit on the main stream, where each pass gathers it or leaves a part
/// of its gradients; nothing elsewhere.
void begin_forward(Writer& main, Unit unit);
void end_forward(Writer& main);
void begin_backward(Writer& main, Unit unit);
void end_backward(Writer& main, Unit unit);
/// Behind the last pass, until all gradients are summed.
void wait_for_gradients(Writer& main);

}  // namespace tessera::strategy::megatron
