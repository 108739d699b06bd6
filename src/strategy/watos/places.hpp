// The wafer cut into places for tensor-parallel groups.
#pragma once

#include <string>
#include <vector>

#include "probe.hpp"
#include "problem.hpp"
#include "tessera/machine/tiles.hpp"

namespace tessera::strategy::watos {

/// Places that do not overlap, on dies that are alive.
struct Tiling {
  std::string name;  ///< "2x2": the tile of most places; "snake": live dies one after another along a serpentine
  std::vector<Place> places;
  machine::Tile tile = {};  ///< of most places; of a snake one die
};

/// All tilings with at least `needed` places of `devices` dies each: one for each tile that such a group can have
/// (tiles of other shapes fill what it leaves over), and where none has enough, the snake. On a wafer that is not sound
/// each is that of several whose places are the fastest: from each corner on, slow dies spread or together in as few
/// places as can be.
[[nodiscard]] std::vector<Tiling> tilings(const machine::Machine& machine, const Health& health, int devices,
                                          std::size_t needed);

/// Columns x rows of so many dies that fit the grid.
[[nodiscard]] std::vector<machine::Tile> tiles_of(const machine::Grid& grid, int devices);

/// The same places, their dies numbered row by row instead of in a cycle: where products are cut in two dimensions.
[[nodiscard]] Tiling by_rows(const machine::Machine& machine, const Health& health, Tiling tiling);

/// The snake: live dies along rows there and back, grid by grid, in groups.
[[nodiscard]] Tiling snake(const machine::Machine& machine, const Health& health, int devices);

/// The place of these dies, its centre that of the rectangle around them.
[[nodiscard]] Place place_at(const machine::Machine& machine, std::vector<machine::NodeId> devices);

/// Numbers paces: places whose dies lie alike to each other, and whose dies and links are as fast, have one.
void number_paces(const machine::Machine& machine, const Health& health, std::vector<Place>& places);

}  // namespace tessera::strategy::watos
