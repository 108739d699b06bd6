// The search.
#pragma once

#include "candidates.hpp"

namespace tessera::strategy::watos {

/// On all ranks of the job together.
[[nodiscard]] Searched search(const Question& question);

}  // namespace tessera::strategy::watos
