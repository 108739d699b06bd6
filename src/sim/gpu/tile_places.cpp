#include "sim/gpu/tile_places.hpp"

#include <algorithm>

namespace tessera::sim {
namespace {

using program::Region;
using program::RegionKind;

/// Where runs start, and the end of the last one.
std::vector<std::uint32_t> cuts(const program::AddressMap& map) {
  std::vector<std::uint32_t> cuts{0, map.tiles};
  for (const Region& region : map.regions) {
    cuts.push_back(region.first_tile);
    cuts.push_back(region.first_tile + region.tiles);
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  return cuts;
}

/// Regions that share tiles agree in what they expect (checked before time zero).
void add(TilePlace& place, const Region& region) {
  place.writes = region.writes;
  place.adds = region.operation == program::StoreOperation::update;
  place.counted_there = region.counted_there;
  place.combined = region.combined;
  if (region.kind == RegionKind::remote) {
    place.stored_to.push_back(region.destination);
    return;
  }
  place.here = true;
  place.updates = region.updates;
  if (region.kind == RegionKind::dma) place.sent_to.push_back(region.destination);
}

}  // namespace

// Each region is added to the runs that it covers, which its first tile finds: groups may have thousands of members.
TilePlaces::TilePlaces(const program::AddressMap& map) : run_of_(map.tiles) {
  const std::vector<std::uint32_t> bounds = cuts(map);
  for (std::size_t i = 0; i + 1 < bounds.size(); ++i) {
    std::fill(run_of_.begin() + bounds[i], run_of_.begin() + bounds[i + 1], static_cast<std::uint16_t>(runs_.size()));
    runs_.push_back({bounds[i], bounds[i + 1] - bounds[i], {}});
  }
  std::vector<bool> named(runs_.size(), false);
  for (const Region& region : map.regions) {
    const std::uint32_t end = region.first_tile + region.tiles;
    for (std::size_t run = region.tiles > 0 ? run_of_[region.first_tile] : runs_.size();
         run < runs_.size() && runs_[run].first < end; ++run) {
      if (!named[run]) runs_[run].place.here = false;  // unless a region says so
      named[run] = true;
      add(runs_[run].place, region);
    }
  }
}

void TilePlaces::append(const TilePlaces& others) {
  const std::uint32_t first = tiles();
  const std::size_t runs = runs_.size();
  for (Run run : others.runs_) {
    run.first += first;
    runs_.push_back(run);
  }
  for (const std::uint16_t run : others.run_of_) run_of_.push_back(static_cast<std::uint16_t>(runs + run));
}

std::vector<std::uint32_t> dispatch_order(const program::AddressMap& map, std::uint32_t own_tiles) {
  std::vector<std::uint32_t> order;
  std::vector<bool> taken(own_tiles, false);
  const auto take = [&](std::uint32_t tile) {  // one tile may go to several devices
    if (tile < map.first_own || tile - map.first_own >= own_tiles || taken[tile - map.first_own]) return;
    taken[tile - map.first_own] = true;
    order.push_back(tile - map.first_own);
  };
  for (const Region& region : map.regions) {
    for (std::uint32_t i = 0; i < region.tiles; ++i) take(region.first_tile + i);
  }
  for (std::uint32_t i = 0; i < own_tiles; ++i) take(map.first_own + i);
  return order;
}

}  // namespace tessera::sim
