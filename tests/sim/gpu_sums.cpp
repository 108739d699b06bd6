#include "gpu_sums.hpp"

#include <algorithm>

#include "tessera/base/error.hpp"

namespace tessera::test {

using Eigen::Index;
using program::Region;
using program::RegionKind;
using sim::MemoryOp;
using sim::MemoryRequest;

GpuSums::GpuSums(const program::GemmKernel& kernel, std::int64_t granularity, const std::vector<Matrix>& a,
                 const std::vector<Matrix>& b)
    : shape_(kernel.shape), granularity_(granularity), layout_(kernel.shape, granularity), gpus_(a.size()) {
  const auto ranks = static_cast<std::uint32_t>(a.size());
  const Matrix zeros = Matrix::Zero(shape_.m, shape_.n);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    One& gpu = gpus_[rank];
    gpu.map = kernel.address_map(rank, ranks);
    for (std::int64_t part = 0; part < shape_.split_k; ++part) {
      const Index first = part * layout_.chunks() * shape_.tile_k;
      const Index depth = std::min<Index>(layout_.chunks() * shape_.tile_k, shape_.k - first);
      gpu.parts.push_back(a[rank].middleCols(first, depth) * b[rank].middleRows(first, depth));
    }
    gpu.memory = gpu.read = zeros;
    gpu.buffers.assign(ranks, zeros);
    gpu.stores.assign(ranks, zeros);
    gpu.under_way.resize(ranks);
  }
}

GpuSums::Place GpuSums::place_of(std::uint32_t tile) const {
  const Index row = layout_.row_of(tile) * shape_.tile_m;
  const Index column = layout_.column_of(tile) * shape_.tile_n;
  return {row, column, std::min(shape_.tile_m, shape_.m - row), std::min(shape_.tile_n, shape_.n - column)};
}

GpuSums::Place GpuSums::place_of(std::uint32_t tile, std::uint32_t wavefront) const {
  Place place = place_of(tile);
  const Index rows = shape_.tile_m / shape_.wavefronts;
  place.row += wavefront * rows;
  place.rows = std::clamp<Index>(shape_.m - place.row, 0, rows);
  return place;
}

GpuSums::Piece GpuSums::piece_of(sim::BlockId block) const {
  const auto behind = static_cast<std::uint32_t>(block - layout_.c_block(0));
  const std::uint32_t in_tile = behind % layout_.c_blocks();
  return {behind / layout_.c_blocks(), in_tile / layout_.wavefront_blocks(), in_tile % layout_.wavefront_blocks()};
}

const Region& GpuSums::region_of(std::uint32_t rank, std::uint32_t tile) const {
  for (const Region& region : gpus_[rank].map.regions) {
    if (tile >= region.first_tile && tile < region.first_tile + region.tiles) return region;
  }
  throw InternalError("a tile without a region");
}

template <class Visit>
void GpuSums::for_each_element(const MemoryRequest& request, Visit&& visit) const {
  const Piece piece = piece_of(request.block);
  const Place place = place_of(piece.tile, piece.wavefront);
  const Index first = piece.index * granularity_ / shape_.element;
  const Index last = first + request.bytes / shape_.element;
  for (Index i = first; i < last; ++i) visit(place.row + i / place.columns, place.column + i % place.columns);
}

// The j-th store of a block is the j-th part of k, whichever was first: only all of them together count.
void GpuSums::store_own(One& gpu, const MemoryRequest& request) {
  const Matrix& part = gpu.parts.at(static_cast<std::size_t>(gpu.own[request.block]++));
  for_each_element(request, [&](Index row, Index column) {
    std::int64_t& element = gpu.memory(row, column);
    element = (request.op == MemoryOp::update ? element : 0) + part(row, column);
  });
}

void GpuSums::store_come(One& gpu, const MemoryRequest& request, bool counted) {
  auto& come = gpu.come[request.block];
  const std::shared_ptr<Message> message = come.at(0);
  come.pop_front();
  const Piece piece = piece_of(request.block);
  const Place place = place_of(piece.tile, piece.wavefront);
  for_each_element(request, [&](Index row, Index column) {
    std::int64_t& element = counted ? gpu.memory(row, column) : gpu.buffers[message->from](row, column);
    element = (request.op == MemoryOp::update ? element : 0) + message->values(row - place.row, column - place.column);
    ++gpu.stores[message->from](row, column);
  });
}

// Reads of the result are those of DMAs.
void GpuSums::served(std::uint32_t rank, const MemoryRequest& request, Time /*at*/) {
  if (request.block < layout_.c_block(0)) return;
  One& gpu = gpus_[rank];
  if (request.op == MemoryOp::read)
    return for_each_element(request, [&](Index row, Index column) { gpu.read(row, column) = gpu.memory(row, column); });
  if (request.stream == sim::MemoryStream::compute) return store_own(gpu, request);
  store_come(gpu, request, region_of(rank, piece_of(request.block).tile).counted_there);
}

// A remote store carries a part of the product itself, a DMA what it has read.
void GpuSums::sent(std::uint32_t rank, std::uint32_t to, const sim::KernelBlock& block, Time /*leaves*/) {
  One& gpu = gpus_[rank];
  const auto each = static_cast<std::uint32_t>(shape_.wavefronts);
  const Place place = place_of(block.first / each, block.first % each);
  const bool is_dma = region_of(rank, block.first / each).kind == RegionKind::dma;
  const Matrix& from = is_dma ? gpu.read : gpu.parts.at(static_cast<std::size_t>(gpu.sent[block.first]++));
  gpus_[to].under_way[rank].push_back({rank, from.block(place.row, place.column, place.rows, place.columns)});
}

void GpuSums::came(std::uint32_t rank, std::uint32_t from, const sim::KernelBlock& block, Time /*now*/) {
  One& gpu = gpus_[rank];
  const auto message = std::make_shared<Message>(std::move(gpu.under_way[from].at(0)));
  gpu.under_way[from].pop_front();
  const auto each = static_cast<std::uint32_t>(shape_.wavefronts);
  const sim::BlockId first = layout_.c_block(block.first / each) + block.first % each * layout_.wavefront_blocks();
  const std::int64_t blocks = (message->values.size() * shape_.element + granularity_ - 1) / granularity_;
  for (std::int64_t i = 0; i < blocks; ++i) gpu.come[first + static_cast<sim::BlockId>(i)].push_back(message);
}

std::int64_t GpuSums::left_over() const {
  std::int64_t sum = 0;
  for (const One& gpu : gpus_) {
    for (const auto& messages : gpu.under_way) sum += static_cast<std::int64_t>(messages.size());
    for (const auto& [block, messages] : gpu.come) sum += static_cast<std::int64_t>(messages.size());
    for (const auto& [block, stores] : gpu.own) sum += stores == shape_.split_k ? 0 : 1;
    for (const auto& [wavefront, messages] : gpu.sent) sum += messages == shape_.split_k ? 0 : 1;
  }
  return sum;
}

}  // namespace tessera::test
