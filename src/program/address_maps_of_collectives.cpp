// The address maps of T3's collectives.
#include <algorithm>

#include "tessera/base/error.hpp"
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

/// `from` + `shift` on a ring.
std::uint32_t around(std::uint32_t from, std::int32_t shift, std::uint32_t ranks) {
  const auto size = static_cast<std::int64_t>(ranks);
  return static_cast<std::uint32_t>(((std::int64_t{from} + shift) % size + size) % size);
}

void add(AddressMap& map, const Region& region) {
  if (region.tiles > 0) map.regions.push_back(region);
}

/// The shard of member `owner` in a gathered array, here; a producer of another
/// member's comes from elsewhere.
Region shard(const AddressMap& map, std::uint32_t owner, std::uint32_t writes) {
  const std::uint32_t tiles = map.tiles / map.ranks;
  Region region;
  region.first_tile = owner * tiles;
  region.tiles = tiles;
  region.operation = StoreOperation::store;
  region.writes = owner == map.rank ? writes : 0;
  return region;
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

AddressMap all_to_all_map(std::uint32_t rank, std::uint32_t ranks, std::uint32_t tiles, std::uint32_t writes) {
  AddressMap map = direct_reduce_scatter_map(rank, ranks, tiles, writes);
  for (Region& region : map.regions) {
    region.operation = writes > 1 ? StoreOperation::update : StoreOperation::store;  // split-K: parts of a sum
    region.counted_there = false;
    region.updates = 0;
  }
  return map;
}

AddressMap send_map(std::uint32_t rank, std::uint32_t ranks, std::uint32_t tiles, std::uint32_t writes) {
  AddressMap map{rank, ranks, tiles, {}};
  Region all = chunk(tiles, 0, 1, writes);
  all.kind = RegionKind::remote;
  all.destination = (rank + 1) % ranks;
  all.operation = writes > 1 ? StoreOperation::update : StoreOperation::store;  // split-K: parts of a sum
  all.counted_there = false;
  add(map, all);
  return map;
}

AddressMap combined(AddressMap map) {
  for (Region& region : map.regions) {
    if (region.kind == RegionKind::remote && region.operation == StoreOperation::update) region.combined = true;
    if (region.kind == RegionKind::local && region.updates > 0) region.updates = 2 * region.writes;
  }
  std::stable_sort(map.regions.begin(), map.regions.end(),
                   [](const Region& a, const Region& b) { return a.first_tile < b.first_tile; });
  return map;
}

AddressMap ring_all_gather_map(std::uint32_t rank, std::uint32_t ranks, std::uint32_t tiles, std::uint32_t writes) {
  AddressMap map{rank, ranks, ranks * tiles, {}, rank * tiles};
  for (std::uint32_t position = 0; position < ranks; ++position) {
    Region region = shard(map, (rank + position) % ranks, writes);
    // The shard of the neighbour that everything is sent to has come all the way round.
    region.kind = position + 1 == ranks ? RegionKind::local : RegionKind::dma;
    region.destination = (rank + ranks - 1) % ranks;
    region.updates = position == 0 ? writes : 1;
    add(map, region);
  }
  return map;
}

AddressMap direct_all_gather_map(std::uint32_t rank, std::uint32_t ranks, std::uint32_t tiles, std::uint32_t writes) {
  AddressMap map{rank, ranks, ranks * tiles, {}, rank * tiles};
  add(map, shard(map, rank, writes));
  for (std::uint32_t position = 1; position < ranks; ++position) {
    Region region = shard(map, rank, writes);
    region.kind = RegionKind::remote;
    region.destination = (rank + position) % ranks;
    add(map, region);
  }
  for (std::uint32_t position = 1; position < ranks; ++position) {
    Region region = shard(map, (rank + position) % ranks, writes);
    region.updates = writes;
    // Partial sums (split-K) are added where they come.
    if (writes > 1) region.operation = StoreOperation::update;
    add(map, region);
  }
  return map;
}

AddressMap local_map(std::uint32_t tiles) {
  Region all;
  all.tiles = tiles;
  all.operation = StoreOperation::store;
  return {0, 1, tiles, {all}};
}

const std::vector<AddressMapKind>& address_map_kinds() {
  static const std::vector<AddressMapKind> kinds{
      {.name = "local",
       .help = "everything stays",
       .make =
           [](std::uint32_t rank, std::uint32_t ranks, std::uint32_t tiles, std::uint32_t) {
             AddressMap map = local_map(tiles);
             map.rank = rank;
             map.ranks = ranks;
             return map;
           }},
      {.name = "ring-reduce-scatter",
       .help = "chunks go round the ring and are added on the way",
       .make = ring_reduce_scatter_map,
       .scatters_sums = true},
      {.name = "direct-reduce-scatter",
       .help = "stores go to where they are summed",
       .make = direct_reduce_scatter_map,
       .scatters_sums = true},
      {.name = "send", .help = "all of it is stored to the next member", .make = send_map, .sends = true},
      {.name = "all-to-all", .help = "each chunk is stored to the member that it is for", .make = all_to_all_map},
      {.name = "ring-all-gather",
       .help = "each member makes a shard, which goes round the ring",
       .make = ring_all_gather_map,
       .gathers = true},
      {.name = "direct-all-gather",
       .help = "each member stores its shard to all others",
       .make = direct_all_gather_map,
       .gathers = true},
  };
  return kinds;
}

std::uint32_t address_map_index(const std::string& name) {
  const auto& kinds = address_map_kinds();
  const auto found = std::find_if(kinds.begin(), kinds.end(), [&](const auto& kind) { return kind.name == name; });
  if (found == kinds.end()) throw InternalError("no address map \"" + name + "\"");
  return static_cast<std::uint32_t>(found - kinds.begin());
}

AddressMap map_of_calls(const std::vector<MapCall>& calls, std::uint32_t rank, std::uint32_t ranks, std::uint32_t tiles,
                        std::uint32_t writes) {
  // What member rank + shift is sent of its chunk c is chunk c + shift of the sender.
  const auto comes = [&](std::uint32_t own_chunk) {
    std::uint32_t updates = 0;
    for (const MapCall& call : calls) {
      if (around(call.chunk, -call.shift, ranks) == own_chunk) updates += call.kind == RegionKind::remote ? writes : 1;
    }
    return updates;
  };
  AddressMap map{rank, ranks, tiles, {}};
  for (std::uint32_t position = 0; position < ranks; ++position) {
    const std::uint32_t index = (rank + position) % ranks;
    bool named = false;
    for (const MapCall& call : calls) {
      if (call.chunk != position) continue;
      Region region = chunk(tiles, index, ranks, writes);
      region.kind = call.kind;
      region.destination = around(rank, call.shift, ranks);
      region.operation = call.operation;
      region.updates = call.kind == RegionKind::dma ? call.updates : 0;
      add(map, region);
      named = true;
    }
    if (named) continue;
    Region kept = chunk(tiles, index, ranks, writes);
    const std::uint32_t coming = comes(position);
    kept.updates = coming > 0 ? writes + coming : 0;
    if (coming == 0) kept.operation = StoreOperation::store;
    add(map, kept);
  }
  return map;
}

}  // namespace tessera::program
