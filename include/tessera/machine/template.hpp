// Machines that are computed instead of listed: a template says what could be built of its keys, or which constraint
// forbids it (docs/wafer-template.md). Adding one is one file in src/machine/template/ with one registration; it is
// then a value of [machine.template] kind and of [sweep] generate.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tessera/base/config.hpp"
#include "tessera/base/quantities.hpp"

namespace tessera::machine {

/// Peak dense compute by datatype; 0: the device has none of it.
struct PeakRates {
  FlopPerSecond fp64, fp32, tf32, fp16, bf16, fp8, int8, fp4;
};

/// Where the DRAM of a die is: beside it, along its left and right edges, or stacked on it (WATOS, section III-B with
/// figure 4, and section VI-E).
enum class DramPlace { none, one_side, both_sides, on_top };

/// A wafer, its dies and their cores (WATOS, section II-A). Bandwidths of edges are one way, as those of links.
struct WaferTemplate {
  struct Wafer {
    Length width, height;                ///< usable
    Length spacing;                      ///< between neighbours, dies and chiplets alike
    std::int64_t columns = 0, rows = 0;  ///< of dies; 0: as many as fit
    Duration latency;                    ///< of a link between two dies
  };
  struct Die {
    Length width, height;
    BytesPerSecond edge_bandwidth;  ///< one way, of so much edge; links and the DRAM beside the die share it
    Length edge_length;
  };
  struct Core {
    std::int64_t columns = 0, rows = 0;  ///< of a die; 0: as many as fit
    Length width, height;                ///< 0: not said, then columns and rows are
    PeakRates peak;
    Bytes sram;
    BytesPerSecond sram_bandwidth;  ///< that of a die's memory where there is no DRAM
    std::int64_t clock = 0;         ///< Hz
    /// As of ArraySpec, of which they make the rest; 0: not said, and the die has no table [machine.device.array].
    std::int64_t pe_columns = 0, pe_rows = 0, banks = 0, bank_bytes = 0, link_bytes = 0;
  };
  /// A chiplet of a data sheet.
  struct Dram {
    DramPlace place = DramPlace::one_side;
    std::int64_t chiplets = 1;  ///< of a side, or on top of a die
    std::string name, source;
    Length width, depth;  ///< along the die's edge, and away from it
    Bytes capacity;
    BytesPerSecond bandwidth;
  };
  Wafer wafer;
  Die die;
  Core core;
  Dram dram;
};

/// A constraint that is not met.
struct Conflict {
  std::string constraint;  ///< "rows of dies", "bandwidth of the die's edge"
  std::string key;         ///< that asks for too much: "wafer.rows"
  std::string what;        ///< what is asked for, what there is, and by how much it is too much
};

/// What a template comes to. With conflicts, figures that depend on them are of no use.
struct WaferLayout {
  std::int64_t columns = 0, rows = 0;            ///< of dies
  std::int64_t core_columns = 0, core_rows = 0;  ///< of a die
  std::int64_t chiplets = 0;                     ///< of DRAM, a die
  Length site_width, site_height;                ///< a die with the DRAM beside it
  BytesPerSecond edge_bandwidth;                 ///< of all four edges, one way
  BytesPerSecond link_bandwidth;                 ///< of each of the four, with what DRAM leaves
  Bytes memory_capacity;                         ///< a die
  BytesPerSecond memory_bandwidth;
  PeakRates peak;  ///< of all cores
  Bytes sram;
  BytesPerSecond sram_bandwidth;
  std::vector<Conflict> conflicts;

  [[nodiscard]] std::int64_t dies() const { return columns * rows; }
  [[nodiscard]] std::int64_t cores() const { return core_columns * core_rows; }
};

/// All constraints are looked at, so that every conflict is named at once.
[[nodiscard]] WaferLayout layout_of(const WaferTemplate& wafer);

/// A kind of template: its keys, and the [machine] table that they come to; null after an error.
struct TemplateKind {
  std::string name;
  std::string help;
  std::function<const config::SchemaBase&()> schema;  ///< machine.template.NAME
  std::vector<const config::SchemaBase*> inner_schemas;
  std::function<std::shared_ptr<config::Table>(const config::Table& keys, config::Diagnostics&)> make;
};
[[nodiscard]] const std::vector<TemplateKind>& built_in_templates();

/// Replaces [machine.template] by the keys of [machine] that it comes to, over which the machine's own name and source
/// stand; other keys of both are refused. A machine without a template is left alone. Problems go to `diagnostics`;
/// false after an error, with the template left as it is.
bool expand_template(config::Table& machine, config::Diagnostics& diagnostics);

}  // namespace tessera::machine
