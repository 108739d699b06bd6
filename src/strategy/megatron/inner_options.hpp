// Tables inside the strategy's own.
#pragma once

#include "tessera/strategy/megatron/megatron.hpp"

namespace tessera::strategy::megatron {

[[nodiscard]] const config::Schema<Placement>& placement_schema();
[[nodiscard]] const config::Schema<StageOptions>& stage_schema();
[[nodiscard]] const config::Schema<LoanOptions>& loan_schema();
[[nodiscard]] const config::Schema<WayOptions>& way_schema();

}  // namespace tessera::strategy::megatron
