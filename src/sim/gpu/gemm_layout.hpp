// How a GEMM's matrices lie in blocks: operands by (tile row or column, chunk
// of k), the result by tile. What a work-group touches is whole blocks; those
// at the edges of a matrix hold less.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/memory/memory_layout.hpp"
#include "tessera/program/kernel.hpp"

namespace tessera::sim {

class GemmLayout {
 public:
  /// `granularity` divides the parts of a whole tile (checked before time
  /// zero).
  GemmLayout(const program::GemmShape& shape, std::int64_t granularity);

  [[nodiscard]] std::int64_t chunks() const { return chunks_; }       ///< of k, of one work-group
  [[nodiscard]] std::uint32_t a_blocks() const { return a_blocks_; }  ///< of a chunk
  [[nodiscard]] std::uint32_t b_blocks() const { return b_blocks_; }
  [[nodiscard]] std::uint32_t c_blocks() const { return c_blocks_; }  ///< of a tile
  [[nodiscard]] BlockId blocks() const { return a_total_ + b_total_ + c_total_; }

  /// Where they lie in memory: A row by row, B and the result too, unless they are transposed. What BLAS calls a
  /// column-major result of n x m is such a one.
  /// Of operands, a fetch takes `access` B of a line at least. The array that the result belongs to may hold several
  /// GEMMs' `results`, one behind the other.
  [[nodiscard]] MemoryLayout in_memory(std::int64_t access, std::int64_t results = 1) const;
  /// Accesses of a fetch of one of their blocks.
  [[nodiscard]] std::uint32_t a_accesses(std::int64_t access) const { return a_place(access).accesses; }
  [[nodiscard]] std::uint32_t b_accesses(std::int64_t access) const { return b_place(access).accesses; }
  [[nodiscard]] std::int64_t row_of(std::int64_t tile) const;
  [[nodiscard]] std::int64_t column_of(std::int64_t tile) const;
  [[nodiscard]] BlockId a_block(std::int64_t tile, std::int64_t chunk) const { return row_block(row_of(tile), chunk); }
  [[nodiscard]] BlockId b_block(std::int64_t tile, std::int64_t chunk) const {
    return a_total_ + static_cast<BlockId>((column_of(tile) * all_chunks_ + chunk) * b_blocks_);
  }
  [[nodiscard]] BlockId c_block(std::int64_t tile) const {
    return a_total_ + b_total_ + static_cast<BlockId>(tile * c_blocks_);
  }
  /// Bytes of the `index`-th block of a part that holds `bytes` in all; 0
  /// behind its end.
  [[nodiscard]] std::uint32_t block_bytes(std::int64_t bytes, std::uint32_t index) const;
  [[nodiscard]] std::int64_t a_bytes(std::int64_t tile, std::int64_t chunk) const;
  [[nodiscard]] std::int64_t b_bytes(std::int64_t tile, std::int64_t chunk) const;
  /// Elements of the chunk along k.
  [[nodiscard]] std::int64_t depth(std::int64_t chunk) const;
  /// Bytes that a wavefront of a tile writes, and its blocks in the tile. In an
  /// array of several GEMMs' results, one behind the other, tiles go on counting.
  [[nodiscard]] std::int64_t wavefront_bytes(std::int64_t tile, std::int64_t wavefront) const;
  [[nodiscard]] std::uint32_t wavefront_blocks() const { return c_blocks_ / wavefronts(); }
  [[nodiscard]] std::uint32_t wavefronts() const { return static_cast<std::uint32_t>(shape_.wavefronts); }
  /// Where A comes from other devices, a row of tiles of it is cut along k into as many parts as a tile has wavefronts:
  /// the first chunk of a part; that of the part behind the last one is the end.
  [[nodiscard]] std::int64_t row_part(std::int64_t part) const { return all_chunks_ * part / shape_.wavefronts; }
  [[nodiscard]] BlockId row_block(std::int64_t row, std::int64_t chunk) const {
    return static_cast<BlockId>((row * all_chunks_ + chunk) * a_blocks_);
  }
  [[nodiscard]] std::int64_t row_bytes(std::int64_t row, std::int64_t chunk) const {
    return std::min(shape_.tile_m, shape_.m - row * shape_.tile_m) * depth(chunk) * shape_.element;
  }
  [[nodiscard]] std::int64_t row_part_bytes(std::int64_t row, std::int64_t part) const {
    const std::int64_t depth = std::min(row_part(part + 1) * shape_.tile_k, shape_.k) - row_part(part) * shape_.tile_k;
    return std::min(shape_.tile_m, shape_.m - row * shape_.tile_m) * std::max<std::int64_t>(depth, 0) * shape_.element;
  }

 private:
  struct Extent {
    std::int64_t parts = 0;
    std::int64_t elements = 0;  // of a part
  };
  [[nodiscard]] MatrixPlace place(Extent along, Extent across, bool along_first, std::int64_t access) const;

  [[nodiscard]] MatrixPlace a_place(std::int64_t access) const;
  [[nodiscard]] MatrixPlace b_place(std::int64_t access) const;

  program::GemmShape shape_;
  std::int64_t granularity_;
  std::int64_t tiles_;  // of the result
  std::int64_t chunks_;
  std::int64_t all_chunks_;
  std::uint32_t a_blocks_;
  std::uint32_t b_blocks_;
  std::uint32_t c_blocks_;
  BlockId a_total_;
  BlockId b_total_;
  BlockId c_total_;
};

}  // namespace tessera::sim
