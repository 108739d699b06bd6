// A device from the inside: cores on a mesh, each with multiply-accumulate units (MACs) and an SRAM of its own. An
// experiment's [machine.device.array]; WATOS (Wang et al.), section II-A: "Die & Core architecture".
#pragma once

#include <compare>
#include <cstdint>

#include "tessera/base/config.hpp"
#include "tessera/base/quantities.hpp"

namespace tessera::machine {

struct ArraySpec {
  std::int64_t columns = 0, rows = 0;        ///< of cores
  std::int64_t pe_columns = 0, pe_rows = 0;  ///< of MACs in a core
  Bytes sram{};                              ///< of a core
  std::int64_t banks = 0;                    ///< of a core's SRAM
  std::int64_t bank_bytes = 0;               ///< that a bank reads or writes in a clock
  std::int64_t link_bytes = 0;               ///< that a link between neighbouring cores carries in a clock, each way

  [[nodiscard]] std::int64_t cores() const { return columns * rows; }
  /// Of all cores.
  [[nodiscard]] std::int64_t macs() const { return cores() * pe_columns * pe_rows; }

  friend auto operator<=>(const ArraySpec&, const ArraySpec&) = default;
};

[[nodiscard]] const config::Schema<ArraySpec>& array_spec_schema();

}  // namespace tessera::machine
