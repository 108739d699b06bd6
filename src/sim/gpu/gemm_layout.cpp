#include "tessera/sim/gpu/gemm_layout.hpp"

#include <algorithm>

#include "tessera/base/integers.hpp"

namespace tessera::sim {
GemmLayout::GemmLayout(const program::GemmShape& shape, std::int64_t granularity)
    : shape_(shape), granularity_(granularity), tiles_(shape.tiles()) {
  all_chunks_ = ceil_div(shape.k, shape.tile_k);
  chunks_ = ceil_div(all_chunks_, shape.split_k);
  const auto blocks = [&](std::int64_t elements) {
    return static_cast<std::uint32_t>(ceil_div(elements * shape.element, granularity));
  };
  a_blocks_ = blocks(shape.tile_m * shape.tile_k);
  b_blocks_ = blocks(shape.tile_n * shape.tile_k);
  c_blocks_ = blocks(shape.tile_m * shape.tile_n);
  a_total_ = static_cast<BlockId>(shape.tile_rows() * all_chunks_ * a_blocks_);
  b_total_ = static_cast<BlockId>(shape.tile_columns() * all_chunks_ * b_blocks_);
  c_total_ = static_cast<BlockId>(shape.tiles() * c_blocks_);
}

MatrixRuns GemmLayout::runs() const {
  const auto bytes = [&](std::int64_t elements) {
    return static_cast<std::uint32_t>(std::min(elements * shape_.element, granularity_));
  };
  MatrixRuns runs;
  runs.ends = {a_total_, a_total_ + b_total_};
  runs.run = {bytes(shape_.a_transposed ? shape_.tile_m : shape_.tile_k),
              bytes(shape_.b_transposed ? shape_.tile_k : shape_.tile_n), bytes(shape_.tile_n)};
  return runs;
}

std::int64_t GemmLayout::row_of(std::int64_t tile) const {
  return shape_.order == program::TileOrder::row_major ? tile / shape_.tile_columns() : tile % shape_.tile_rows();
}

std::int64_t GemmLayout::column_of(std::int64_t tile) const {
  return shape_.order == program::TileOrder::row_major ? tile % shape_.tile_columns() : tile / shape_.tile_rows();
}

std::uint32_t GemmLayout::block_bytes(std::int64_t bytes, std::uint32_t index) const {
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(bytes - index * granularity_, 0, granularity_));
}

std::int64_t GemmLayout::depth(std::int64_t chunk) const {
  return std::min(shape_.tile_k, shape_.k - chunk * shape_.tile_k);
}

std::int64_t GemmLayout::a_bytes(std::int64_t tile, std::int64_t chunk) const { return row_bytes(row_of(tile), chunk); }

std::int64_t GemmLayout::b_bytes(std::int64_t tile, std::int64_t chunk) const {
  return std::min(shape_.tile_n, shape_.n - column_of(tile) * shape_.tile_n) * depth(chunk) * shape_.element;
}

std::int64_t GemmLayout::wavefront_bytes(std::int64_t tile, std::int64_t wavefront) const {
  if (tile >= tiles_) tile %= tiles_;
  const std::int64_t rows = shape_.tile_m / shape_.wavefronts;
  const std::int64_t first = row_of(tile) * shape_.tile_m + wavefront * rows;
  const std::int64_t columns = std::min(shape_.tile_n, shape_.n - column_of(tile) * shape_.tile_n);
  return std::clamp<std::int64_t>(shape_.m - first, 0, rows) * columns * shape_.element;
}

}  // namespace tessera::sim
