// Strategy "t3": tensor-parallel sub-layers whose reduce-scatter is fused with the GEMM that makes its data, at the
// level of work-groups and memory transactions (T3, Pati et al., ASPLOS 2024; docs/t3.md). All live devices are one
// group.
//
//   [strategy]
//   name = "t3"
//   configuration = "t3-mca"
//   sublayer = "fc2"
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tessera/program/sublayer.hpp"
#include "tessera/strategy/strategy.hpp"

namespace tessera::strategy::t3 {

/// [[strategy.remote_map]] and [[strategy.dma_map]] (T3, figure 12).
struct MapTable {
  std::int64_t chunk = 0;
  std::int64_t shift = -1;
  std::string operation = "update";
  std::int64_t updates = 2;  ///< dma_map
};

/// The keys of its [strategy] table.
struct Options {
  std::string fidelity = "transaction";
  std::string configuration = "t3-mca";
  std::string sublayer = "fc2";
  std::string collective = "ring-reduce-scatter";
  std::string input = "local";
  program::Reduction reduction = program::Reduction::near_memory;
  program::sublayer::Following following = program::sublayer::Following::nothing;
  std::int64_t m = 0, n = 0, k = 0;  ///< of sub-layer "gemm", and of one device
  std::int64_t tile_m = 128, tile_n = 256, tile_k = 32;
  std::int64_t wavefronts = 8;
  std::int64_t split_k = 1;
  program::TileOrder tile_order = program::TileOrder::column_major;
  std::int64_t dma_tiles = 1;
  std::int64_t gemm_cus = 0, collective_cus = 0;  ///< cu-split
  std::vector<MapTable> remote_maps, dma_maps;    ///< instead of `collective`
};
[[nodiscard]] const config::Schema<Options>& options_schema();
[[nodiscard]] const config::Schema<MapTable>& remote_map_schema();
[[nodiscard]] const config::Schema<MapTable>& dma_map_schema();

/// For built_in_strategies().
[[nodiscard]] StrategyKind kind();

}  // namespace tessera::strategy::t3
