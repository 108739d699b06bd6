// What stands before the first layer and behind the last one.
#pragma once

#include "parallel_linear.hpp"

namespace tessera::strategy::megatron {

struct EdgeBlocks {
  program::BlockId forward = 0;
  program::BlockId backward = 0;                             ///< training only
  program::BlockId input_gradient = 0, weight_gradient = 0;  ///< of the head, where the schedule splits backward passes
  program::BlockId backward_beside = 0;  ///< on the stream beside the main one, where the schedule has such passes
};

/// What the backward pass of the logits moves on the stream beside.
[[nodiscard]] BesideWidths head_widths(const Cut& cut);
/// Vocabulary-parallel word embedding: each tensor rank looks its own rows up, and the sum over the ranks is the
/// embedding.
[[nodiscard]] EdgeBlocks add_embedding(program::Program& program, const Cut& cut);
/// Final norm, vocabulary-parallel logits and, in training, vocabulary-parallel cross entropy.
[[nodiscard]] EdgeBlocks add_head(program::Program& program, const Cut& cut);

}  // namespace tessera::strategy::megatron
