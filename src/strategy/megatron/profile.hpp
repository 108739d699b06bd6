// What the stages of a cut keep and take, for strategies that search over tables of this one.
#pragma once

#include "cut.hpp"
#include "tessera/strategy/profile.hpp"

namespace tessera::strategy::megatron {

using SectionWork = std::array<Work, workload::LayerOperators::section_count>;
/// Collectives of a layer's forward pass, by section: those that only run together stand at the first of them.
[[nodiscard]] SectionWork section_work(const Cut& cut, const Job& job, std::uint32_t kind);

/// From the code that the devices of the cut would run: what a block computes and communicates.
[[nodiscard]] PipelineProfile profile_of(const Cut& cut, const Job& job);

}  // namespace tessera::strategy::megatron
