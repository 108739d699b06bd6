// The address maps of T3's collectives.
#include "tessera/program/address_map.hpp"

namespace tessera::program {
namespace {

/// Chunk `index`: chunks differ by at most one tile.
Region chunk(std::uint32_t tiles, std::uint32_t index, std::uint32_t ranks, std::uint32_t writes) {
  const auto bound = [&](std::uint32_t i) { return static_cast<std::uint32_t>(std::uint64_t{tiles} * i / ranks); };
  Region region;
  region.first_tile = bound(index);
  region.tiles = bound(index + 1) - region.first_tile;
  region.writes = writes;
  return region;
}

void add(AddressMap& map, const Region& region) {
  if (region.tiles > 0) map.regions.push_back(region);
}

}  // namespace

AddressMap ring_reduce_scatter_map(std::uint32_t rank, std::uint32_t ranks, std::uint32_t tiles, std::uint32_t writes) {
  AddressMap map{rank, ranks, tiles, {}};
  for (std::uint32_t position = 0; position < ranks; ++position) {
    Region region = chunk(tiles, (rank + position) % ranks, ranks, writes);
    region.destination = (rank + ranks - 1) % ranks;
    region.kind = position + 1 == ranks ? RegionKind::local : position == 0 ? RegionKind::remote : RegionKind::dma;
    // Behind it comes what the neighbour has stored (each partial sum), or sent
    // once by DMA.
    const std::uint32_t received = position == 0 ? 0 : position == 1 ? writes : 1;
    region.updates = region.kind == RegionKind::remote ? 0 : writes + received;
    add(map, region);
  }
  return map;
}

AddressMap direct_reduce_scatter_map(std::uint32_t rank, std::uint32_t ranks, std::uint32_t tiles,
                                     std::uint32_t writes) {
  AddressMap map{rank, ranks, tiles, {}};
  for (std::uint32_t position = 1; position <= ranks; ++position) {
    // Everybody starts with another chunk, so that not all store to one device
    // at a time.
    const std::uint32_t owner = (rank + position) % ranks;
    Region region = chunk(tiles, owner, ranks, writes);
    region.destination = owner;
    region.kind = owner == rank ? RegionKind::local : RegionKind::remote;
    region.updates = owner == rank ? ranks * writes : 0;
    add(map, region);
  }
  return map;
}

AddressMap all_to_all_map(std::uint32_t rank, std::uint32_t ranks, std::uint32_t tiles) {
  AddressMap map = direct_reduce_scatter_map(rank, ranks, tiles);
  for (Region& region : map.regions) {
    region.operation = StoreOperation::store;
    region.counted_there = false;
    region.updates = 0;
  }
  return map;
}

AddressMap local_map(std::uint32_t tiles) {
  Region all;
  all.tiles = tiles;
  all.operation = StoreOperation::store;
  return {0, 1, tiles, {all}};
}

}  // namespace tessera::program
