// One file each.
#pragma once

#include "../operators.hpp"

namespace tessera::strategy::watos {

[[nodiscard]] Operator vary_recomputation();
[[nodiscard]] Operator cross_recomputation();
[[nodiscard]] Operator vary_placement();
[[nodiscard]] Operator vary_pairs();
[[nodiscard]] Operator cross_pairs();

}  // namespace tessera::strategy::watos
