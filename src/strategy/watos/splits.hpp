// How the products of a layer can be cut over the dies of a group, and which collectives that implies (WATOS, section
// IV-E: batch B, sequence S, output columns H, inner dimension K, and two of them at once).
#pragma once

#include <string>
#include <vector>

#include "tessera/base/data_table.hpp"

namespace tessera::strategy::watos {

/// Who carries a split out.
enum class Carrier : std::uint8_t {
  whole_tokens,   ///< tensor parallelism; norms and residuals on every die
  cut_tokens,     ///< tensor parallelism with sequence parallelism
  both_sides,     ///< the same in two dimensions, rows x columns of a tile
  data_parallel,  ///< it is data parallelism
  nobody,         ///< no strategy here
};

struct Split {
  std::string name;     ///< "H-K"
  std::string implies;  ///< collectives of a layer, forward; the backward pass has their mirror images
  Carrier carrier = Carrier::nobody;
};

/// Bytes are of the activation between two layers, A, and of a group of t = columns x rows dies.
[[nodiscard]] const std::vector<Split>& splits();
[[nodiscard]] const Split& split_by(Carrier carrier);
/// "splits": all of them, a row each.
[[nodiscard]] DataTable splits_table();

}  // namespace tessera::strategy::watos
