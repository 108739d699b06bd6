// What every pipeline's stage writes: its passes in the order of a schedule, and the exchanges between them.
#pragma once

#include <cstdint>
#include <functional>

#include "tessera/program/program.hpp"
#include "tessera/program/schedule.hpp"

namespace tessera::program {

/// The stages before and behind one.
struct StageNeighbours {
  std::function<std::uint32_t(int stages_on)> peer;  ///< slot of the one behind (1) or before (-1), where there is one
  Bytes activations{}, gradients{};                  ///< each way, for a micro-batch
  std::uint32_t activations_channel = 0, gradients_channel = 1;
};

/// Posts all sends and waits for all that is due, and unless they are `posted` for the sends to have left, as
/// Megatron-LM does (megatron/p2p_communication.py). Activity pipeline_communication.
void write_exchange(BlockBuilder& builder, const PipelineAction& exchange, const StageNeighbours& neighbours);

/// What a stage does in its passes. Each block is asked for once.
struct StagePasses {
  std::function<BlockId(std::uint32_t chunk, bool is_first)> forward;  ///< of the one marked as first, or of the others
  std::function<BlockId(std::uint32_t chunk, bool is_last)> backward;  ///< of the last micro-batch, or of the others
  /// Its two parts, of orders that split it.
  std::function<BlockId(std::uint32_t chunk)> input_gradient = {};
  std::function<BlockId(std::uint32_t chunk, bool is_last)> weight_gradient = {};
  std::function<void(BlockBuilder& into, const PipelineAction& both)> both = {};
  std::function<void(BlockBuilder& into, const PipelineAction& exchange)> exchange;
  std::function<void(BlockBuilder& into, const PipelineAction& loan)> loan = {};  ///< lend, recall, restore
};

/// The numbers of a chunk's passes in BlockBuilder::call().
[[nodiscard]] inline std::uint32_t forward_pass(std::uint32_t chunk) { return 2 * chunk + 1; }
[[nodiscard]] inline std::uint32_t backward_pass(std::uint32_t chunk) { return 2 * chunk + 2; }
/// Of weight gradients apart, in orders with one chunk. Where some backward passes run beside forward passes and some
/// weight gradients alone are apart, the n-th such pass is not the n-th micro-batch's, and has no number.
[[nodiscard]] inline std::uint32_t weight_pass(std::uint32_t chunk) { return chunk + 5; }

/// All of them; what repeats becomes blocks that are called.
void write_passes(Program& program, BlockBuilder& main, const ScheduleLoop& schedule, const StagePasses& passes);

}  // namespace tessera::program
