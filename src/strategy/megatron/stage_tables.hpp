// Tables of a plan whose stages differ: where they stand, what they keep and repeat, and what they lend.
#pragma once

#include "cut.hpp"

namespace tessera::strategy::megatron {

/// Adds the tables "placement", "stages", "loans" and "ways", and rows about loans to the description; nothing where
/// the table has none of the keys that they speak of.
void add_stage_tables(const Cut& cut, const Job& job, Plan& plan);

}  // namespace tessera::strategy::megatron
