// An operator on the cores of a device: which part each of them has, and how long the nest takes.
#pragma once

#include <optional>

#include "dataflows.hpp"
#include "nest.hpp"

namespace tessera::workload::dataflow {

/// What a nest takes its time from.
struct Rates {
  machine::ArraySpec array;
  double clock = 0;   ///< ps of a MAC's multiply-add
  double memory = 0;  ///< B/ps of the device's memory
  double link = 0;    ///< B/ps between neighbouring cores, each way
  double bank = 0;    ///< B/ps of a bank
};

/// Cores of a row share out one side, those of a column one as well; both may share out the same.
struct Spread {
  Side along_rows = of_m, along_columns = of_n;

  [[nodiscard]] Sides parts(const machine::ArraySpec& array) const {
    Sides all{1, 1, 1, 1};
    all[along_rows] *= array.rows;
    all[along_columns] *= array.columns;
    return all;
  }
  friend bool operator==(const Spread&, const Spread&) = default;
};

/// A core's tile: the device's is as many times larger as cores share it out.
struct Mapping {
  Order order{};
  Spread spread;
  Sides tile{1, 1, 1, 1};

  friend bool operator==(const Mapping&, const Mapping&) = default;
};
[[nodiscard]] Nest nest_of(const Product& product, const Mapping& mapping, const machine::ArraySpec& array);

/// Whether two of each fit into a core's SRAM: tiles of the operands, and sums.
[[nodiscard]] bool fits(const Product& product, const Sides& tile, const machine::ArraySpec& array);

struct Timed {
  double time = 0;       ///< ps
  double computing = 0;  ///< ps, if the memory took none
  Accesses accesses;
};
/// The nest carried out, two tiles at a time: a step takes the longest of its arithmetic, of what comes for the next
/// one and of what leaves behind the one before. The first tiles come and the last ones leave by themselves.
[[nodiscard]] Timed timed(const Dataflow& dataflow, const Product& product, const Mapping& mapping, const Rates& rates);

/// The fastest mapping of an operator, by carrying out each nest that a bound below its time does not rule out.
/// Nothing: the dataflow does not apply, or no tile fits.
struct Found {
  Mapping mapping;
  Timed timed;
};
[[nodiscard]] std::optional<Found> fastest(const Dataflow& dataflow, const Operator& op, const Rates& rates);

}  // namespace tessera::workload::dataflow
