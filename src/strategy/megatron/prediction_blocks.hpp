// Modules behind the last layer that predict tokens further ahead, in training (Megatron core,
// multi_token_prediction.py): on the last stage, which holds a copy of the embedding for them. Forward they come before
// the head, and backward behind it, from the last one on.
#pragma once

#include "edge_blocks.hpp"
#include "layer_blocks.hpp"

namespace tessera::strategy::megatron {

/// What a module runs besides its own.
struct PredictionParts {
  EdgeBlocks embedding;  ///< of the next tokens
  LayerBlocks layer;     ///< of workload::prediction_kind()
  EdgeBlocks head;       ///< norm, logits and loss
};
/// What its layer runs again: as layers of its stage do, where all of them do; of a number of layers or groups it is
/// none, or one by itself.
[[nodiscard]] Repeat prediction_repeat(const Cut& cut, std::uint32_t stage);
/// One module. Where it runs again as a whole, only its embedding and the layer's input are kept.
[[nodiscard]] EdgeBlocks add_prediction(program::Program& program, const Cut& cut, std::uint32_t stage,
                                        const PredictionParts& parts);

/// What its backward pass moves on the stream beside, in order.
[[nodiscard]] std::vector<BesideWidths> prediction_widths(const Cut& cut);

/// Of the last stage but for layers and modules: final norm, output weight where it is one of its own, and the copy of
/// the embedding.
[[nodiscard]] workload::ParameterShare last_stage_parameters(const Cut& cut);

/// What a model with such modules cannot be cut by; problems go to `diagnostics`.
void check_predictions(const config::Table& table, const Job& job, const Cut& cut, config::Diagnostics& diagnostics);

}  // namespace tessera::strategy::megatron
