#include "tessera/sim/gpu/kernel_volume.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include "sim/gpu/gemm_layout.hpp"
#include "sim/gpu/tile_places.hpp"
#include "tessera/base/integers.hpp"
#include "tessera/program/copy_steps.hpp"

namespace tessera::sim {
namespace {

using program::Region;
using program::RegionKind;

/// Accesses of both operands that one stage makes after the other: each stage loads the rows and columns of its tiles.
std::int64_t loads_by_stage(const program::GemmShape& shape, const GemmLayout& layout, const program::AddressMap& map,
                            const machine::GpuSpec& spec, std::int64_t stage) {
  const std::int64_t of_row = std::int64_t{layout.a_blocks()} * layout.a_accesses(spec.l2_line);
  const std::int64_t of_column = std::int64_t{layout.b_blocks()} * layout.b_accesses(spec.l2_line);
  std::int64_t blocks = 0;
  std::int64_t running = 0;
  std::set<std::int64_t> rows, columns;  // each with the part of k
  const auto end_stage = [&] {
    blocks += layout.chunks() *
              (static_cast<std::int64_t>(rows.size()) * of_row + static_cast<std::int64_t>(columns.size()) * of_column);
    rows.clear();
    columns.clear();
    running = 0;
  };
  for (const std::uint32_t tile : dispatch_order(map, static_cast<std::uint32_t>(shape.tiles()))) {
    for (std::int64_t part = 0; part < shape.split_k; ++part) {
      rows.insert(layout.row_of(tile) * shape.split_k + part);
      columns.insert(layout.column_of(tile) * shape.split_k + part);
      if (++running == stage) end_stage();
    }
  }
  end_stage();
  return blocks;
}

std::int64_t loads(const program::GemmShape& shape, const GemmLayout& layout, const program::AddressMap& map,
                   const machine::GpuSpec& spec, std::int64_t cus) {
  const auto operands = static_cast<std::int64_t>(layout.c_block(0));
  const auto of_a = static_cast<std::int64_t>(layout.b_block(0, 0));
  if (operands * spec.granularity <= spec.l2_capacity)
    return of_a * layout.a_accesses(spec.l2_line) + (operands - of_a) * layout.b_accesses(spec.l2_line);
  return loads_by_stage(shape, layout, map, spec, cus * spec.work_groups_per_cu);
}

/// What the stores of a tile become: transactions here, messages, and what as many messages bring from others.
void add_stores(const Region& region, const program::GemmKernel& gemm, const GemmLayout& layout,
                const machine::GpuSpec& spec, KernelVolume& volume) {
  const program::GemmShape& shape = gemm.shape;
  const bool is_remote = region.kind == RegionKind::remote;
  const bool is_dma = region.kind == RegionKind::dma;
  const bool is_cached = region.kind == RegionKind::local && region.updates == 0;
  const std::int64_t own = is_remote ? 0 : is_cached ? 1 : region.writes;
  const std::int64_t sent = is_remote ? shape.split_k : is_dma ? 1 : 0;
  // An atomic reads what it writes.
  const bool atomics = gemm.reduction == program::Reduction::atomics;
  const bool adds = region.operation == program::StoreOperation::update;
  const std::int64_t store = atomics && !is_cached && (adds || region.writes > 1) ? 2 : 1;
  const std::int64_t receipt = region.combined ? 0 : atomics && adds ? 2 : 1;
  // What a switch adds comes to its owner alone, once.
  const bool gets_sum = gemm.reduction == program::Reduction::in_switch && !is_remote && region.updates > 0;
  const std::int64_t sums = gets_sum ? region.writes : 0;
  for (std::int64_t tile = region.first_tile; tile < region.first_tile + region.tiles; ++tile) {
    for (std::int64_t wavefront = 0; wavefront < shape.wavefronts; ++wavefront) {
      const std::int64_t bytes = layout.wavefront_bytes(tile, wavefront);
      if (bytes == 0) continue;
      volume.transactions +=
          ceil_div(bytes, spec.granularity) * (own * store + sums + sent * receipt + (is_dma ? 1 : 0));
      volume.messages += sent;
      volume.bytes_sent += sent * bytes;
    }
  }
}

/// What of A this member sends to others, and as much that comes from them.
void add_input(const Region& region, const program::GemmShape& shape, const GemmLayout& layout,
               const machine::GpuSpec& spec, KernelVolume& volume) {
  if (region.kind != RegionKind::dma) return;
  const std::int64_t accesses = layout.a_accesses(spec.l2_line);
  for (std::int64_t row = region.first_tile; row < region.first_tile + region.tiles; ++row) {
    for (std::int64_t part = 0; part < shape.wavefronts; ++part) {
      volume.bytes_sent += layout.row_part_bytes(row, part);
      volume.messages += layout.row_part_bytes(row, part) > 0 ? 1 : 0;
      for (std::int64_t chunk = layout.row_part(part); chunk < layout.row_part(part + 1); ++chunk)
        volume.transactions += 2 * accesses * ceil_div(layout.row_bytes(row, chunk), spec.granularity);
    }
  }
}

KernelVolume volume_of(const program::GemmKernel& gemm, const machine::GpuSpec& spec, std::int64_t cus,
                       std::uint32_t rank, std::uint32_t ranks) {
  const GemmLayout layout(gemm.shape, spec.granularity);
  const program::AddressMap map = gemm.address_map(rank, ranks);
  KernelVolume volume;
  volume.loads = gemm.shape.tiles() * ceil_div(gemm.shape.k, gemm.shape.tile_k);
  volume.transactions = loads(gemm.shape, layout, map, spec, cus);
  for (const Region& region : map.regions) add_stores(region, gemm, layout, spec, volume);
  for (const Region& region : gemm.input_address_map(rank, ranks).regions)
    add_input(region, gemm.shape, layout, spec, volume);
  return volume;
}

KernelVolume volume_of(const program::CopyKernel& kernel, const machine::GpuSpec& spec, std::uint32_t rank,
                       std::uint32_t ranks) {
  const program::CopySteps plan = copy_steps(kernel, rank, ranks);
  const std::int64_t unit = ceil_div(spec.copy_block, spec.granularity) * spec.granularity;
  KernelVolume volume;
  for (const program::CopyStep& step : plan.steps) {
    const std::int64_t bytes = chunk_bytes(kernel, step.chunk, ranks);
    const bool is_sent = step.destination != rank;
    const bool is_stored = !is_sent && !kernel.near_memory;
    const std::int64_t moved = (step.own ? 1 : 0) + (step.other ? 1 : 0) + (is_stored ? 1 : 0);
    volume.transactions += moved * ceil_div(bytes, spec.granularity);
    volume.loads += ceil_div(bytes, unit);
    if (!is_sent) continue;
    volume.messages += ceil_div(bytes, unit);
    volume.bytes_sent += bytes;
  }
  for (const std::int64_t bytes : plan.expected) volume.transactions += ceil_div(bytes, spec.granularity);
  return volume;
}

}  // namespace

KernelVolume kernel_volume(const program::Kernel& kernel, const machine::GpuSpec& spec, std::uint32_t rank,
                           std::uint32_t ranks) {
  if (const auto* gemm = std::get_if<program::GemmKernel>(&kernel.work))
    return volume_of(*gemm, spec, kernel.cus > 0 ? kernel.cus : spec.cus, rank, ranks);
  return volume_of(std::get<program::CopyKernel>(kernel.work), spec, rank, ranks);
}

}  // namespace tessera::sim
