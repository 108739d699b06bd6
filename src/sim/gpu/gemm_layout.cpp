#include "sim/gpu/gemm_layout.hpp"

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

MatrixPlace GemmLayout::place(Extent along, Extent across, bool along_first, std::int64_t access) const {
  const std::int64_t piece = along.elements * shape_.element;  // B of a line in a part
  MatrixPlace place;
  place.part_blocks = static_cast<std::uint32_t>(ceil_div(piece * across.elements, granularity_));
  place.parts = static_cast<std::uint32_t>(along.parts * across.parts);
  place.minors = static_cast<std::uint32_t>(along_first ? along.parts : across.parts);
  place.along_first = along_first;
  place.run = static_cast<std::uint32_t>(std::min<std::int64_t>(ceil_div(piece, granularity_), place.part_blocks));
  place.per_block = static_cast<std::uint32_t>(std::max<std::int64_t>(granularity_ / piece, 1));
  place.shared = std::min(place.per_block, static_cast<std::uint32_t>(std::max<std::int64_t>(access / piece, 1)));
  place.accesses = place.per_block / place.shared;
  const std::uint32_t needed = place.part_blocks / place.run * place.accesses * place.shared;
  place.lines = std::max(static_cast<std::uint32_t>(across.elements), needed);
  place.line = static_cast<std::uint32_t>(ceil_div(along.parts, place.per_block)) * place.run;
  place.matrix = place.line * place.lines * static_cast<std::uint32_t>(across.parts);
  return place;
}

MatrixPlace GemmLayout::a_place(std::int64_t access) const {
  const Extent m{shape_.tile_rows(), shape_.tile_m};
  const Extent k{all_chunks_, shape_.tile_k};
  return shape_.a_transposed ? place(m, k, false, access) : place(k, m, true, access);
}

MatrixPlace GemmLayout::b_place(std::int64_t access) const {
  const Extent n{shape_.tile_columns(), shape_.tile_n};
  const Extent k{all_chunks_, shape_.tile_k};
  return shape_.b_transposed ? place(k, n, true, access) : place(n, k, false, access);
}

MemoryLayout GemmLayout::in_memory(std::int64_t access, std::int64_t results) const {
  const Extent m{shape_.tile_rows(), shape_.tile_m};
  const Extent n{shape_.tile_columns(), shape_.tile_n};
  MemoryLayout layout;
  layout.add(a_total_, a_place(access));
  layout.add(b_total_, b_place(access));
  layout.add(c_total_ * static_cast<BlockId>(results),
             place(n, m, shape_.order == program::TileOrder::row_major, granularity_));
  return layout;
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
