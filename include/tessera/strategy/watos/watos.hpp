// Strategy "watos": the search for cuts, recomputation, places on a wafer and lent memory together (Wang et al.,
// "WATOS: Efficient LLM Training Strategies and Architecture Co-exploration for Wafer-scale Chip", section IV;
// docs/watos.md). Its plans are tables of another strategy, which writes their programs.
//
//   [strategy]
//   name = "watos"
//   tensor = "any"
#pragma once

#include "tessera/strategy/strategy.hpp"

namespace tessera::strategy::watos {

/// For built_in_strategies(). `cut` runs the plans: it has a profile, and keys tensor, pipeline, data, spare_devices,
/// stage_layers, routes, stages (devices, recomputation) and loans (from, to, bytes), as strategy megatron has them.
[[nodiscard]] StrategyKind kind(const StrategyKind& cut);

}  // namespace tessera::strategy::watos
