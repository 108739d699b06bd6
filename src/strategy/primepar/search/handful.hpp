// The fastest plans that differ in how their products are cut.
#pragma once

#include <vector>

#include "search.hpp"

namespace tessera::strategy::primepar {

/// `best`, which is what search_that_fits() finds, and behind it, the fastest first, others that fit, up to `count`
/// in all: each the fastest for its own choice of these operators' partitions. A choice that costs as much as one that
/// an operator has had is no other choice: most are the same cut with its bits in another order. They are looked for
/// among few choices of each operator (narrowed()), which those of `best` are among. The tables are as before at the
/// end.
[[nodiscard]] std::vector<Found> handful(const CostTables& tables, std::int64_t layers, const Capacity& capacity,
                                         const Found& best, const std::vector<std::size_t>& products,
                                         std::size_t count);

}  // namespace tessera::strategy::primepar
