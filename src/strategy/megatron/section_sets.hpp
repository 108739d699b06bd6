// Sets of sections of a layer that may run again for the backward pass, and what they cost.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "cut.hpp"
#include "tessera/strategy/profile.hpp"

namespace tessera::strategy::megatron {

/// Of the forward pass of a layer for one micro-batch, by section: ps.
struct SectionTimes {
  std::array<Time, workload::LayerOperators::section_count> operators{};
  /// On an idle network, on the first device's groups; those of sections that only run together stand at the first.
  std::array<double, workload::LayerOperators::section_count> collectives{};
};
/// Of the sections in `of` alone.
[[nodiscard]] SectionTimes section_times(const Cut& cut, const Job& job, std::uint32_t stage, std::uint32_t kind,
                                         const workload::LayerSections& of);

/// All sets that the model's layers can run again: none, selective and full, and those of sections that do something.
[[nodiscard]] std::vector<SetProfile> section_sets(const Cut& cut);

/// Those that `recomputed_sections = "any"` stands for, as that key lists them, those first that repeat least: all that
/// no other one beats. One beats another where in each kind of layers it keeps no more bytes, holds no more together
/// with what it makes again at once, and repeats neither longer operators nor longer collectives, nor a ring of context
/// ranks that the other one does not. Of equals the first counts.
[[nodiscard]] std::vector<std::vector<std::string>> unbeaten_sets(const Cut& cut, const Job& job);

}  // namespace tessera::strategy::megatron
