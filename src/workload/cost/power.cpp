#include "power.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cost_models.hpp"

namespace tessera::workload::cost {

double Power::clock(const Operator& op, const machine::DeviceSpec& device, double picoseconds) const {
  if (limit == 0 || picoseconds <= 0) return 1;
  const double busy =
      uses_matrix_units(op.kind) ? static_cast<double>(op.flops) / (peak_rate(op, device) * picoseconds) : 0;
  const double moving = memory_time(op, device, 1) / picoseconds;
  const double drawn = static_cast<double>(matrix) * busy + static_cast<double>(memory) * moving;
  const auto left = static_cast<double>(limit - idle);
  constexpr double least = 0.1;
  return drawn <= left ? 1 : std::max(least, std::cbrt(left / drawn));
}

void refuse_idle_above_limit(const Power& power, const config::Table& table, config::Diagnostics& diagnostics) {
  if (power.limit == 0 || power.idle < power.limit) return;
  diagnostics.error(table.find("idle_power")->where(),
                    fmt::format("\"idle_power\": {} is no less than the {} of \"power_limit\", allowed: less",
                                config::format_quantity(power.idle, config::Unit::power),
                                config::format_quantity(power.limit, config::Unit::power)));
}

}  // namespace tessera::workload::cost
