// Pipeline schedules: in which order a stage runs the forward and backward passes of its micro-batches, and where it
// exchanges activations and gradients with its neighbours. Adding an order is one file in src/program/schedules/ with
// one registration.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tessera::program {

/// Where the pieces are that a model is cut into, in the model's order, for p stages.
enum class ChunkOrder : std::uint8_t {
  in_turn,         ///< chunk c of stage i is piece c p + i
  both_ways,       ///< chunk 0 of stage i is piece i of p, chunk 1 is piece p - 1 - i: all are there twice
  there_and_back,  ///< chunk 0 of stage i is piece i of 2p, chunk 1 is piece 2p - 1 - i
};

/// A pipeline of `stages` devices (or groups of devices), and the model in stages x `chunks` pieces.
struct PipelineShape {
  std::uint32_t stages = 1;
  std::uint32_t chunks = 1;
  std::uint32_t micro_batches = 1;
  bool backward = true;  ///< false: forward passes only (prompt)
};

/// One thing that a stage does: a pass of one micro-batch through one chunk, or an exchange. In an exchange all sends
/// are posted, then what is due is awaited, and the sends have to leave before the stage goes on.
struct PipelineAction {
  enum class Kind : std::uint8_t {
    forward,
    backward,  ///< whole: gradients of inputs and of weights
    exchange,
    lend,  // this one and the next two: loans.hpp
    recall,
    restore,
    input_gradient,   ///< a backward pass without weight gradients: "B" of Qi et al. 2023
    weight_gradient,  ///< those of the chunk's oldest micro-batch that lacks them: "W"
    both,             ///< a forward pass through `chunk` beside a whole backward pass through `backward_chunk`
  };
  Kind kind = Kind::exchange;
  std::uint32_t chunk = 0;
  std::uint32_t backward_chunk = 0;
  std::uint32_t loan = 0;         ///< of lend, recall, restore: its number
  bool last = false;              ///< the chunk's gradients are complete behind it: of its last micro-batch; of `both`
                                  ///< those of the chunk with the backward pass
  bool first = false;             ///< forward: of the chunk's first micro-batch, where a strategy has marked it
  bool send_next = false;         ///< activation of the forward pass before
  bool receive_previous = false;  ///< activation for a forward pass to come
  bool send_previous = false;     ///< gradient of the backward pass before
  bool receive_next = false;      ///< gradient for a backward pass to come
  bool posted = false;            ///< exchange: the stage goes on while its sends leave
  bool mirrored = false;          ///< exchange: of micro-batches that go from stage to stage the other way

  friend bool operator==(const PipelineAction&, const PipelineAction&) = default;
};

/// An order of passes.
struct PipelineOrder {
  std::string name;  ///< "gpipe", "1f1b", "interleaved-1f1b", "combined-1f1b", "zb-h1", "zb-h2", "dualpipe", ...
  std::string help;
  /// A problem with this shape ("needs a number of micro-batches that is a multiple of the stages"); empty when it
  /// fits.
  std::string (*check)(const PipelineShape& shape);
  /// All actions of one stage, in order.
  std::vector<PipelineAction> (*actions)(const PipelineShape& shape, std::uint32_t stage);
  bool splits_backward = false;                  ///< it has passes input_gradient and weight_gradient
  ChunkOrder chunk_order = ChunkOrder::in_turn;  ///< those of other orders have passes `both`
  bool combines = false;                         ///< it has passes `both` all the same, layer beside layer
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
