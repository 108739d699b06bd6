// Ways of what stages send to each other (docs/megatron.md#ways).
#pragma once

#include "cut.hpp"

namespace tessera::strategy::megatron {

/// Fills in Cut::ways from the ways that the table lists. Expects the rest of the cut, and does nothing where that has
/// errors. Problems go to `diagnostics`.
void read_ways(const config::Table& table, const Job& job, Cut& cut, config::Diagnostics& diagnostics);

/// Those of the table, or what its rule chooses for all that goes between stages: activations, gradients and loans.
[[nodiscard]] std::vector<machine::BoundWay> ways_of(const Cut& cut, const machine::Machine& machine);

/// Links of bound ways, a link a row.
[[nodiscard]] DataTable ways_table(const std::vector<machine::BoundWay>& ways);

}  // namespace tessera::strategy::megatron
