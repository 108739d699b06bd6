// From what may be chosen to the partitions of all layers.
#pragma once

#include "../plan.hpp"

namespace tessera::strategy::primepar {

/// Of all candidates whose program fits into every device the one whose simulation is the fastest, and what is
/// predicted of it; of what is given what is predicted alone, where costs are known of so many devices. All ranks of
/// the job's evaluations take part and have the same; rank 0 searches, and each simulates some.
[[nodiscard]] Searched search_plan(const Setup& setup, const Job& job);

}  // namespace tessera::strategy::primepar
