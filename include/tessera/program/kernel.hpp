// Kernels that are simulated by their work-groups and memory transactions (T3).
// What runs them: sim/gpu/.
#pragma once

#include <cstdint>

namespace tessera::program {

enum class TileOrder : std::uint8_t { row_major, column_major };

/// A tiled GEMM: (m x k) (k x n), each work-group computes one tile of the
/// result. Sizes in elements.
struct GemmShape {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t tile_m = 128;
  std::int64_t tile_n = 256;
  std::int64_t tile_k = 32;
  std::int64_t element = 2;     ///< B
  bool a_transposed = false;    ///< stored k x m
  bool b_transposed = false;    ///< stored n x k
  std::int64_t split_k = 1;     ///< work-groups that share a tile, each with a part of k
  std::int64_t wavefronts = 8;  ///< of a work-group; each writes an equal share of the tile's rows
  TileOrder order = TileOrder::row_major;

  [[nodiscard]] std::int64_t tile_rows() const { return (m + tile_m - 1) / tile_m; }
  [[nodiscard]] std::int64_t tile_columns() const { return (n + tile_n - 1) / tile_n; }
  [[nodiscard]] std::int64_t tiles() const { return tile_rows() * tile_columns(); }
  [[nodiscard]] std::int64_t output_bytes() const { return m * n * element; }
};

/// A pass round a ring by work-groups that copy: each step reads a chunk, adds
/// what was received where it reduces, and stores it to the next member. In one
/// direction, to member r-1 as T3's maps do.
struct RingPass {
  std::int64_t bytes = 0;    ///< of the whole buffer
  bool reduces = true;       ///< reduce-scatter; otherwise all-gather
  bool near_memory = false;  ///< DMAs and op-and-store instead of work-groups:
                             ///< one read a step, no last reduction
};

}  // namespace tessera::program
