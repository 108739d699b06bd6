// The stream beside the main one that gathers units over the replicas and sums their gradients.
#pragma once

#include <vector>

#include "sharding.hpp"

namespace tessera::strategy::megatron {

/// What it does for a unit whose turn it is.
struct UnitUse {
  Unit unit = Unit::embedding;
  bool gathered = false;  ///< before the main stream uses it; false: it is whole already
  bool reduced = false;   ///< its gradients, behind that
  bool summed = false;    ///< and their part over the groups of shard_ranks
  friend auto operator<=>(const UnitUse&, const UnitUse&) = default;
};
/// Of a pass of a micro-batch, or of an iteration, in the order in which the main stream takes units.
using UnitUses = std::vector<UnitUse>;

/// Pass by pass, of what a stage does: each forward and each backward pass gathers the units of its chunk, where they
/// are cut; where gradients alone are, each backward pass reduces them.
[[nodiscard]] std::vector<UnitUses> uses_by_pass(const Cut& cut, std::uint32_t stage,
                                                 const std::vector<program::PipelineAction>& actions);

[[nodiscard]] program::BlockId sharding_stream(program::Program& program, const Cut& cut,
                                               const std::vector<UnitUses>& passes);
/// Where groups of shard_ranks hold the same: on a stream of its own, as two communicators run beside each other, each
/// part of gradients is summed over the groups behind its reduce-scatter, where that is its turn. Then the unit's
/// buffer is free.
[[nodiscard]] program::BlockId across_stream(program::Program& program, const Cut& cut,
                                             const std::vector<UnitUses>& passes);

}  // namespace tessera::strategy::megatron
