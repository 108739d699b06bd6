// The dataflows, one file each: in which order tiles come, and how a core's MACs work through one.
#pragma once

#include <string>
#include <vector>

#include "product.hpp"
#include "tessera/machine/array.hpp"

namespace tessera::workload::dataflow {

/// What a core does with its part of a tile.
struct CoreWork {
  std::int64_t clocks = 0;  ///< of its MACs, without filling and draining them
  std::int64_t bytes = 0;   ///< that they read from and write to its SRAM
};

struct Dataflow {
  std::string name;
  std::string help;
  std::vector<Order> orders;               ///< of the loops over tiles
  bool (*applies)(const Operator& op);     ///< to an operator with matrix units
  Product (*product)(const Operator& op);  ///< the operator in this dataflow's units
  CoreWork (*work)(const Product& product, const Sides& extent, const machine::ArraySpec& array);
  bool rows_alone;  ///< its units are rows and channels: a tile may have a single one
};

[[nodiscard]] Dataflow output_stationary();
[[nodiscard]] Dataflow weight_stationary();
[[nodiscard]] Dataflow input_stationary();
[[nodiscard]] Dataflow row_stationary();

/// In their order: of equals the first one is taken.
[[nodiscard]] const std::vector<Dataflow>& dataflows();

/// One of matrices, of all operators. These differ in what they move, not in what they compute (section IV-E): m along
/// one side of the MACs and n along the other, whichever takes fewer clocks; a MAC keeps a sum while it goes through
/// the tile's k.
[[nodiscard]] Dataflow matrix_dataflow(std::string name, std::string help, std::vector<Order> orders);

}  // namespace tessera::workload::dataflow
