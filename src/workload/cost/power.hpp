// The clock that a device holds under its power limit.
#pragma once

#include "tessera/workload/operator.hpp"

namespace tessera::workload::cost {

/// What a device draws, in mW. At a clock c of its full one arithmetic takes 1/c as long at c^2 the energy, for voltage
/// goes with the clock: c^3 the power.
struct Power {
  std::int64_t limit = 0;   ///< of the device; 0: it holds its full clock
  std::int64_t idle = 0;    ///< whatever it does
  std::int64_t matrix = 0;  ///< of the matrix units at the peak of any datatype, at full clock
  std::int64_t memory = 0;  ///< of the memory at its full bandwidth

  /// Share of the full clock that a kernel holds that goes on for some 10 ms, the time over which a device averages,
  /// and takes so many ps at full clock. At least a tenth.
  [[nodiscard]] double clock(const Operator& op, const machine::DeviceSpec& device, double picoseconds) const;
};

/// The keys, for a cost model whose parameters derive from Power.
template <class Parameters>
void add_power(config::Schema<Parameters>& schema) {
  std::int64_t Parameters::*limit = &Parameters::limit;
  std::int64_t Parameters::*idle = &Parameters::idle;
  std::int64_t Parameters::*matrix = &Parameters::matrix;
  std::int64_t Parameters::*memory = &Parameters::memory;
  schema
      .quantity("power_limit", limit, config::Unit::power,
                "of the device: a kernel that would draw more holds a lower clock; none when absent")
      .at_least("1 W")
      .at_most("1 MW")
      .optional();
  schema.quantity("idle_power", idle, config::Unit::power, "that the device draws whatever it does; below power_limit")
      .at_most("1 MW")
      .otherwise("0 W");
  schema
      .quantity("matrix_power", matrix, config::Unit::power,
                "that products add where they run at peak, of whatever datatype")
      .at_most("1 MW")
      .otherwise("0 W");
  schema.quantity("memory_power", memory, config::Unit::power, "that the memory adds at its full bandwidth")
      .at_most("1 MW")
      .otherwise("0 W");
}

/// An idle device draws less than it may: an error of the table otherwise.
void refuse_idle_above_limit(const Power& power, const config::Table& table, config::Diagnostics& diagnostics);

}  // namespace tessera::workload::cost
