#include "tessera/machine/tiles.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tessera/base/error.hpp"

namespace tessera::machine {
namespace {

/// Column and row inside of a tile.
struct Spot {
  int x = 0, y = 0;
};

std::vector<Spot> snake(const Tile& tile) {
  std::vector<Spot> spots;
  for (int y = 0; y < tile.rows; ++y) {
    for (int i = 0; i < tile.columns; ++i) spots.push_back({y % 2 == 0 ? i : tile.columns - 1 - i, y});
  }
  return spots;
}

/// Of an even number of rows: there and back over all columns but the first, which leads back to the top.
std::vector<Spot> cycle_of_even_rows(const Tile& tile) {
  std::vector<Spot> spots = {{0, 0}};
  for (const Spot& spot : snake({tile.columns - 1, tile.rows})) spots.push_back({spot.x + 1, spot.y});
  for (int y = tile.rows - 1; y > 0; --y) spots.push_back({0, y});
  return spots;
}

std::vector<Spot> cycle(const Tile& tile) {
  if (tile.rows % 2 == 0) return cycle_of_even_rows(tile);
  std::vector<Spot> spots = cycle_of_even_rows({tile.rows, tile.columns});
  for (Spot& spot : spots) std::swap(spot.x, spot.y);
  return spots;
}

std::vector<Spot> by_rows(const Tile& tile) {
  std::vector<Spot> spots;
  for (int y = 0; y < tile.rows; ++y) {
    for (int x = 0; x < tile.columns; ++x) spots.push_back({x, y});
  }
  return spots;
}

}  // namespace

bool on_one_grid(const Machine& machine, const std::vector<NodeId>& devices) {
  const auto grid_of = [&](NodeId device) { return machine.places[device].node; };
  return machine.grid.count == 1 ||
         std::ranges::all_of(devices, [&](NodeId device) { return grid_of(device) == grid_of(devices.front()); });
}

Rectangle around(const Machine& machine, const std::vector<NodeId>& devices) {
  const DevicePlace& first = machine.places[devices.front()];
  int left = first.x, right = first.x, top = first.y, bottom = first.y;
  for (const NodeId device : devices) {
    const DevicePlace& place = machine.places[device];
    left = std::min(left, place.x);
    right = std::max(right, place.x);
    top = std::min(top, place.y);
    bottom = std::max(bottom, place.y);
  }
  return {left, top, {right - left + 1, bottom - top + 1}, machine.grid.count == 1 ? 0 : first.node};
}

std::string name_of(const Tile& tile) { return fmt::format("{}x{}", tile.columns, tile.rows); }

bool has_cycle(const Tile& tile) {
  if (tile.devices() == 2) return true;
  return tile.columns > 1 && tile.rows > 1 && tile.devices() % 2 == 0;
}

// "Long" is along the band and "wide" across it, so that both paths are one.
std::vector<Rectangle> lay_out(const Grid& grid, const std::vector<Tile>& tiles, TilePath path) {
  const bool is_by_rows = path == TilePath::serpentine_rows;
  const int length = is_by_rows ? grid.columns : grid.rows;
  const int width = is_by_rows ? grid.rows : grid.columns;
  std::vector<Rectangle> places;
  int on = 0, band = 0, band_width = 0, filled = 0;
  bool is_way_back = true;
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    const int is_long = is_by_rows ? tiles[i].columns : tiles[i].rows;
    const int is_wide = is_by_rows ? tiles[i].rows : tiles[i].columns;
    if (i == 0 || is_wide != band_width || is_long > length - filled) {
      band += band_width;
      band_width = is_wide;
      filled = 0;
      is_way_back = !is_way_back;
    }
    if (is_wide > width - band && on + 1 < grid.count) {
      ++on;
      band = filled = 0;
      is_way_back = false;
    }
    if (is_long > length || is_wide > width - band) {
      const std::string all = grid.count == 1 ? "" : fmt::format(" of {} grids", grid.count);
      throw InputError(fmt::format("tile {} of {}, {}, lies beyond the edge of the {} columns and {} rows{}", i,
                                   tiles.size(), name_of(tiles[i]), grid.columns, grid.rows, all));
    }
    const int along = is_way_back ? length - filled - is_long : filled;
    places.push_back(is_by_rows ? Rectangle{along, band, tiles[i], on} : Rectangle{band, along, tiles[i], on});
    filled += is_long;
  }
  return places;
}

std::vector<NodeId> devices_of(const Grid& grid, const Rectangle& at, TileOrder order) {
  const bool is_cycle = order == TileOrder::cycle;
  std::vector<NodeId> devices;
  const std::vector<Spot> spots = !is_cycle || at.tile.devices() == 2 ? by_rows(at.tile)
                                  : has_cycle(at.tile)                ? cycle(at.tile)
                                                                      : snake(at.tile);
  for (const Spot& spot : spots) devices.push_back(grid.device(at.x + spot.x, at.y + spot.y, at.grid));
  return devices;
}

}  // namespace tessera::machine
