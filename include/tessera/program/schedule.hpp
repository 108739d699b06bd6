// Pipeline schedules: in which order a stage runs the forward and backward passes of its micro-batches, and where it
// exchanges activations and gradients with its neighbours. Adding an order is one file in src/program/schedules/ with
// one registration.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tessera::program {

/// A pipeline of `stages` devices (or groups of devices). Each stage holds `chunks` pieces of the model: piece c of
/// stage i comes before piece c of stage i+1, and piece c of the last stage before piece c+1 of the first.
struct PipelineShape {
  std::uint32_t stages = 1;
  std::uint32_t chunks = 1;
  std::uint32_t micro_batches = 1;
  bool backward = true;  ///< false: forward passes only (prompt)
};

/// One thing that a stage does: a pass of one micro-batch through one chunk, or an exchange. In an exchange all sends
/// are posted, then what is due is awaited, and the sends have to leave before the stage goes on.
struct PipelineAction {
  enum class Kind : std::uint8_t { forward, backward, exchange, lend, recall, restore };  // the last three: loans.hpp
  Kind kind = Kind::exchange;
  std::uint32_t chunk = 0;
  std::uint32_t loan = 0;         ///< of lend, recall, restore: its number
  bool last = false;              ///< backward: of the chunk's last micro-batch, after which its gradients are complete
  bool first = false;             ///< forward: of the chunk's first micro-batch, where a strategy has marked it
  bool send_next = false;         ///< activation of the forward pass before
  bool receive_previous = false;  ///< activation for a forward pass to come
  bool send_previous = false;     ///< gradient of the backward pass before
  bool receive_next = false;      ///< gradient for a backward pass to come

  friend bool operator==(const PipelineAction&, const PipelineAction&) = default;
};

/// An order of passes.
struct PipelineOrder {
  std::string name;  ///< "gpipe", "1f1b", "interleaved-1f1b"
  std::string help;
  /// A problem with this shape ("needs a number of micro-batches that is a multiple of the stages"); empty when it
  /// fits.
  std::string (*check)(const PipelineShape& shape);
  /// All actions of one stage, in order.
  std::vector<PipelineAction> (*actions)(const PipelineShape& shape, std::uint32_t stage);
};
[[nodiscard]] const std::vector<PipelineOrder>& pipeline_orders();
/// Null when there is no such order.
[[nodiscard]] const PipelineOrder* find_pipeline_order(const std::string& name);

/// A sequence of actions folded into loops, so that a program does not grow with the number of micro-batches: either
/// one action, or a body, carried out `times` times.
struct ScheduleLoop {
  std::uint32_t times = 1;
  std::optional<PipelineAction> action;
  std::vector<ScheduleLoop> body;

  friend bool operator==(const ScheduleLoop&, const ScheduleLoop&) = default;
};
/// The same actions in the same order; loops may hold loops.
[[nodiscard]] ScheduleLoop fold(const std::vector<PipelineAction>& actions);
/// The inverse of fold.
[[nodiscard]] std::vector<PipelineAction> unfold(const ScheduleLoop& loop);

}  // namespace tessera::program
