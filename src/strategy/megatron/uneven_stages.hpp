// How layers that no number of stages divides are dealt out.
#pragma once

#include <cstdint>
#include <vector>

#include "cut.hpp"

namespace tessera::strategy::megatron {

/// Layers of each chunk of each stage (chunk by chunk, stage by stage, as in the model), so that the slowest stage is
/// as fast as can be: layers count with their time, the first stage with the embedding's as well, the last one with the
/// logits'. Each chunk has one layer at least. Times are those of a device's operators, recomputation included. Expects
/// at least as many layers as chunks, and a cut that fits the model.
[[nodiscard]] std::vector<std::int64_t> spread_layers(const Cut& cut, const workload::CostModel& cost);

}  // namespace tessera::strategy::megatron
