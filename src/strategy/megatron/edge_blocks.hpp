// What stands before the first layer and behind the last one.
#pragma once

#include "writer.hpp"

namespace tessera::strategy::megatron {

struct EdgeBlocks {
  program::BlockId forward = 0;
  program::BlockId backward = 0;  ///< training only
};

/// Vocabulary-parallel word embedding: each tensor rank looks its own rows up, and the sum over the ranks is the
/// embedding.
[[nodiscard]] EdgeBlocks add_embedding(program::Program& program, const Cut& cut);
/// Final norm, vocabulary-parallel logits and, in training, vocabulary-parallel cross entropy.
[[nodiscard]] EdgeBlocks add_head(program::Program& program, const Cut& cut);

}  // namespace tessera::strategy::megatron
