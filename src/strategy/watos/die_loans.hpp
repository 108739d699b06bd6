// Algorithm 3, die by die: which dies of its helpers hold what the dies of a stage lend.
#pragma once

#include "problem.hpp"

namespace tessera::strategy::watos {

/// Dies of one stage that lend as many bytes each, to as many dies of another one; none is listed twice.
struct DieLoan {
  Pair pair;
  std::int64_t bytes = 0;                         ///< B of each die and micro-batch
  std::vector<machine::NodeId> lenders, helpers;  ///< the first one lends to the first one, and so on
};

/// What stages lend each other, by dies: a die of a helper has all that its stage has to spare, and in all one stage
/// gives another one as much as `loans` say. The nearest two dies come first (by hops, then by rank), for all that one
/// lends; what has found no such die is shared out, the nearest first again. Where whole bytes do not come out even,
/// empty: then each die lends alike.
[[nodiscard]] std::vector<DieLoan> die_loans(const Problem& problem, const Solution& solution,
                                             const std::vector<PairedBytes>& loans, const machine::Machine& machine);

}  // namespace tessera::strategy::watos
