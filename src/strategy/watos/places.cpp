#include "places.hpp"

#include <algorithm>
#include <map>

namespace tessera::strategy::watos {
namespace {

using machine::Machine;
using machine::NodeId;
using machine::Rectangle;
using machine::Tile;

/// Dies that nobody has yet.
class Free {
 public:
  explicit Free(const Machine& machine) : machine_(machine), is_free_(machine.accelerators()) {
    for (NodeId device = 0; device < machine.accelerators(); ++device) is_free_[device] = machine.alive(device);
  }
  /// From the first die on, along the rows, wherever the tile fits.
  void fill(const Tile& tile, std::vector<Place>& places) {
    const machine::Grid& grid = machine_.grid;
    for (int on = 0; on < grid.count; ++on)
      for (int y = 0; y + tile.rows <= grid.rows; ++y)
        for (int x = 0; x + tile.columns <= grid.columns; ++x) take({x, y, tile, on}, places);
  }

 private:
  void take(const Rectangle& at, std::vector<Place>& places) {
    std::vector<NodeId> devices = devices_of(machine_.grid, at, machine::TileOrder::cycle);
    if (!std::ranges::all_of(devices, [&](NodeId device) { return is_free_[device]; })) return;
    for (const NodeId device : devices) is_free_[device] = false;
    places.push_back(place_of(machine_, std::move(devices)));
  }

  const Machine& machine_;
  std::vector<bool> is_free_;
};

/// Of a group, how its dies lie to each other, and with `speeds` how fast they and the links among them are.
std::vector<std::int64_t> likeness(const Machine& machine, const Place& place, bool speeds) {
  std::vector<std::int64_t> all;
  const machine::DevicePlace& first = machine.places[place.devices.front()];
  for (const NodeId device : place.devices) {
    const machine::DevicePlace& at = machine.places[device];
    all.insert(all.end(), {at.node - first.node, at.x - first.x, at.y - first.y});
    if (!speeds) continue;
    constexpr double parts = 1e9;
    all.push_back(static_cast<std::int64_t>(machine.speed[device] * parts));
    const auto begin = machine.network.first_link[device], end = machine.network.first_link[device + 1];
    for (machine::LinkId link = begin; link < end; ++link) {
      const machine::Link& one = machine.network.links[link];
      if (std::ranges::find(place.devices, one.to) == place.devices.end()) continue;
      all.push_back(one.dead ? 0 : one.bandwidth.value());
      all.push_back(one.latency.value());
    }
  }
  return all;
}

}  // namespace

std::vector<Tile> tiles_of(const machine::Grid& grid, int devices) {
  std::vector<Tile> tiles;
  for (int columns = 1; columns <= std::min(grid.columns, devices); ++columns)
    if (devices % columns == 0 && devices / columns <= grid.rows) tiles.push_back({columns, devices / columns});
  // The squarest first: they fill what others leave over best.
  std::ranges::stable_sort(tiles, {}, [](const Tile& tile) { return tile.columns + tile.rows; });
  return tiles;
}

Place place_of(const Machine& machine, std::vector<NodeId> devices) {
  const Rectangle around = machine::around(machine, devices);
  Place place;
  // Grids lie side by side, as far from each other as one is wide.
  const int left = around.x + 2 * around.grid * machine.grid.columns;
  place.x = 2 * left + around.tile.columns - 1;
  place.y = 2 * around.y + around.tile.rows - 1;
  place.devices = std::move(devices);
  return place;
}

void number(const Machine& machine, std::vector<Place>& places) {
  std::map<std::vector<std::int64_t>, std::uint32_t> shapes, paces;
  const auto number_of = [](auto& known, std::vector<std::int64_t> key) {
    return known.try_emplace(std::move(key), static_cast<std::uint32_t>(known.size())).first->second;
  };
  for (Place& place : places) {
    place.shape = number_of(shapes, likeness(machine, place, false));
    place.pace = number_of(paces, likeness(machine, place, true));
  }
}

Tiling snake(const Machine& machine, int devices) {
  Tiling found{"snake", {}};
  const machine::Grid& grid = machine.grid;
  std::vector<NodeId> group;
  for (int on = 0; on < grid.count; ++on) {
    group.clear();
    for (int y = 0; y < grid.rows; ++y) {
      for (int i = 0; i < grid.columns; ++i) {
        const NodeId device = grid.device(y % 2 == 0 ? i : grid.columns - 1 - i, y, on);
        if (!machine.alive(device)) continue;
        group.push_back(device);
        if (group.size() < static_cast<std::size_t>(devices)) continue;
        found.places.push_back(place_of(machine, group));
        group.clear();
      }
    }
  }
  number(machine, found.places);
  return found;
}

std::vector<Tiling> tilings(const Machine& machine, int devices, std::size_t needed) {
  std::vector<Tiling> found;
  const std::vector<Tile> tiles = tiles_of(machine.grid, devices);
  for (const Tile& tile : tiles) {
    Tiling one{name_of(tile), {}};
    Free free(machine);
    free.fill(tile, one.places);
    for (const Tile& other : tiles) free.fill(other, one.places);
    if (one.places.size() < needed) continue;
    number(machine, one.places);
    found.push_back(std::move(one));
  }
  if (!found.empty()) return found;
  Tiling last = snake(machine, devices);
  if (last.places.size() >= needed) found.push_back(std::move(last));
  return found;
}

}  // namespace tessera::strategy::watos
