#include "places.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

namespace tessera::strategy::watos {
namespace {

using machine::Machine;
using machine::NodeId;
using machine::Rectangle;
using machine::Tile;

/// From which corner on tiles are laid.
struct Corner {
  bool right = false, bottom = false;
};

/// Dies that nobody has yet.
class Free {
 public:
  Free(const Machine& machine, const Health& health) : machine_(machine), health_(health) {
    for (NodeId die = 0; die < machine.accelerators(); ++die) is_free_.push_back(health.alive(die));
  }

  /// Along the rows, wherever the tile fits.
  void fill(const Tile& tile, const Corner& from, std::vector<Place>& places) {
    for_each_spot(tile, from, [&](const Rectangle& at) { take(at, places); });
  }
  /// Where the tile has most of the slow dies that are left, until none is left that it can have.
  void cover_slow(const Tile& tile, const Corner& from, std::vector<Place>& places) {
    while (true) {
      Rectangle best;
      std::size_t most = 0;
      for_each_spot(tile, from, [&](const Rectangle& at) {
        const std::size_t slow = is_free(at) ? slow_in(at) : 0;
        if (slow <= most) return;
        most = slow;
        best = at;
      });
      if (most == 0) return;
      take(best, places);
    }
  }

 private:
  template <class Act>
  void for_each_spot(const Tile& tile, const Corner& from, const Act& act) const {
    const machine::Grid& grid = machine_.grid;
    const int last_x = grid.columns - tile.columns, last_y = grid.rows - tile.rows;
    for (int on = 0; on < grid.count; ++on)
      for (int y = 0; y <= last_y; ++y)
        for (int x = 0; x <= last_x; ++x)
          act(Rectangle{from.right ? last_x - x : x, from.bottom ? last_y - y : y, tile, on});
  }
  [[nodiscard]] std::vector<NodeId> dies(const Rectangle& at) const {
    return devices_of(machine_.grid, at, machine::TileOrder::cycle);
  }
  [[nodiscard]] bool is_free(const Rectangle& at) const {
    return std::ranges::all_of(dies(at), [&](NodeId die) { return is_free_[die]; });
  }
  [[nodiscard]] std::size_t slow_in(const Rectangle& at) const {
    const auto is_slow = [&](NodeId die) { return condition_of(health_.dies[die]) == Condition::slow; };
    return static_cast<std::size_t>(std::ranges::count_if(dies(at), is_slow));
  }
  void take(const Rectangle& at, std::vector<Place>& places) {
    if (!is_free(at)) return;
    std::vector<NodeId> all = dies(at);
    for (const NodeId die : all) is_free_[die] = false;
    places.push_back(place_at(machine_, std::move(all)));
  }

  const Machine& machine_;
  const Health& health_;
  std::vector<bool> is_free_;
};

/// Of a group, how its dies lie to each other, and how fast they and the links among them are.
std::vector<std::int64_t> likeness(const Machine& machine, const Health& health, const Place& place) {
  std::vector<std::int64_t> all;
  const machine::DevicePlace& first = machine.places[place.devices.front()];
  const auto parts = [](double share) { return static_cast<std::int64_t>(share * 1e6); };
  for (const NodeId die : place.devices) {
    const machine::DevicePlace& at = machine.places[die];
    all.insert(all.end(), {at.node - first.node, at.x - first.x, at.y - first.y});
    all.push_back(parts(health.dies[die]));
    for (const NodeId other : place.devices)
      if (other != die) all.push_back(parts(health.share_of(die, other)));
  }
  return all;
}

/// Of a tiling's fastest places so many: how fast their slowest dies are, and how slow the links inside, added up.
double speed_of(const Health& health, const Tiling& tiling, std::size_t needed) {
  std::vector<double> speeds;
  for (const Place& place : tiling.places) {
    double die = 1, link = 1;
    for (const NodeId one : place.devices) {
      die = std::min(die, health.dies[one]);
      for (const NodeId other : place.devices)
        if (const double share = health.share_of(one, other); share > 0) link = std::min(link, share);
    }
    constexpr double part_of_links = 0.1;  // a stage waits for links a small part of its time
    speeds.push_back(die + part_of_links * link);
  }
  std::ranges::sort(speeds, std::greater<>());
  double sum = 0;
  for (std::size_t i = 0; i < std::min(needed, speeds.size()); ++i) sum += speeds[i];
  return sum;
}

/// With most of its places in one tile; those of other shapes fill the rest.
Tiling tiled(const Machine& machine, const Health& health, const std::vector<Tile>& tiles, std::size_t main,
             const Corner& from, bool slow_first) {
  Tiling one{name_of(tiles[main]), {}, tiles[main]};
  Free free(machine, health);
  if (slow_first) free.cover_slow(tiles[main], from, one.places);
  free.fill(tiles[main], from, one.places);
  for (const Tile& other : tiles) free.fill(other, from, one.places);
  return one;
}

/// The fastest of several; without enough places where none has.
Tiling best_tiling(const Machine& machine, const Health& health, const std::vector<Tile>& tiles, std::size_t main,
                   std::size_t needed) {
  Tiling best = tiled(machine, health, tiles, main, {}, false);
  if (health.is_sound()) return best;
  for (const bool slow_first : {false, true}) {
    for (const Corner& from : {Corner{}, Corner{true, false}, Corner{false, true}, Corner{true, true}}) {
      Tiling other = tiled(machine, health, tiles, main, from, slow_first);
      if (other.places.size() < needed) continue;
      if (best.places.size() < needed || speed_of(health, other, needed) > speed_of(health, best, needed))
        best = std::move(other);
    }
  }
  return best;
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

Place place_at(const Machine& machine, std::vector<NodeId> devices) {
  const Rectangle around = machine::around(machine, devices);
  Place place;
  // Grids lie side by side, as far from each other as one is wide.
  const int left = around.x + 2 * around.grid * machine.grid.columns;
  place.x = 2 * left + around.tile.columns - 1;
  place.y = 2 * around.y + around.tile.rows - 1;
  place.columns = around.tile.columns;
  place.rows = around.tile.rows;
  place.grid = static_cast<int>(around.grid);
  place.devices = std::move(devices);
  return place;
}

void number_paces(const Machine& machine, const Health& health, std::vector<Place>& places) {
  std::map<std::vector<std::int64_t>, std::uint32_t> paces;
  for (Place& place : places)
    place.pace =
        paces.try_emplace(likeness(machine, health, place), static_cast<std::uint32_t>(paces.size())).first->second;
}

Tiling by_rows(const Machine& machine, const Health& health, Tiling tiling) {
  for (Place& place : tiling.places)
    std::ranges::sort(place.devices, {},
                      [&](NodeId die) { return std::pair(machine.places[die].y, machine.places[die].x); });
  number_paces(machine, health, tiling.places);
  return tiling;
}

Tiling snake(const Machine& machine, const Health& health, int devices) {
  Tiling found{"snake", {}, {}};
  const machine::Grid& grid = machine.grid;
  std::vector<NodeId> group;
  for (int on = 0; on < grid.count; ++on) {
    group.clear();
    for (int y = 0; y < grid.rows; ++y) {
      for (int i = 0; i < grid.columns; ++i) {
        const NodeId die = grid.device(y % 2 == 0 ? i : grid.columns - 1 - i, y, on);
        if (!health.alive(die)) continue;
        group.push_back(die);
        if (group.size() < static_cast<std::size_t>(devices)) continue;
        found.places.push_back(place_at(machine, group));
        group.clear();
      }
    }
  }
  number_paces(machine, health, found.places);
  return found;
}

std::vector<Tiling> tilings(const Machine& machine, const Health& health, int devices, std::size_t needed) {
  std::vector<Tiling> found;
  const std::vector<Tile> tiles = tiles_of(machine.grid, devices);
  for (std::size_t main = 0; main < tiles.size(); ++main) {
    Tiling one = best_tiling(machine, health, tiles, main, needed);
    if (one.places.size() < needed) continue;
    number_paces(machine, health, one.places);
    found.push_back(std::move(one));
  }
  if (!found.empty()) return found;
  Tiling last = snake(machine, health, devices);
  if (last.places.size() >= needed) found.push_back(std::move(last));
  return found;
}

}  // namespace tessera::strategy::watos
