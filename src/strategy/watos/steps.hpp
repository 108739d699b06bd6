// The steps of the search, one after another: each takes candidates from what they are to something better.
#pragma once

#include <optional>

#include "candidates.hpp"

namespace tessera::strategy::watos {

/// Stages where they start; nothing runs again.
[[nodiscard]] Solution at_start(const Problem& problem);
/// There; all stages run the same again: of what fits so the fastest. Nothing: no such
/// set fits.
[[nodiscard]] std::optional<Solution> scheduled(const Problem& problem);
/// There; what each stage runs again (GCMR), pairs by amount.
[[nodiscard]] std::optional<Solution> recomputed(const Problem& problem);
/// Stages in places of least cost, pairs by location.
[[nodiscard]] std::optional<Solution> placed(const Problem& problem, const Judge& judge);

}  // namespace tessera::strategy::watos
