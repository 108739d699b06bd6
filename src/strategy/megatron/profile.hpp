// What the stages of a cut keep and take, for strategies that search over tables of this one.
#pragma once

#include "cut.hpp"
#include "tessera/strategy/profile.hpp"

namespace tessera::strategy::megatron {

/// From the code that the devices of the cut would run: what a block computes and communicates.
[[nodiscard]] PipelineProfile profile_of(const Cut& cut, const Job& job);

}  // namespace tessera::strategy::megatron
