// Rectangles of a grid, one after another along a path: how groups of devices are laid out on a wafer.
#pragma once

#include <string>
#include <vector>

#include "tessera/machine/machine.hpp"

namespace tessera::machine {

/// So many columns and rows of a grid, both at least 1.
struct Tile {
  int columns = 1, rows = 1;
  [[nodiscard]] std::int64_t devices() const { return std::int64_t{columns} * rows; }
  friend bool operator==(const Tile&, const Tile&) = default;
};
/// "2x4": two columns, four rows.
[[nodiscard]] std::string name_of(const Tile& tile);

/// A tile whose first column and row are (x, y) of a grid.
struct Rectangle {
  int x = 0, y = 0;
  Tile tile;
  int grid = 0;
};

/// Whether devices, one at least, are on one grid.
[[nodiscard]] bool on_one_grid(const Machine& machine, const std::vector<NodeId>& devices);
/// The smallest rectangle in which devices of one grid stand, one at least.
[[nodiscard]] Rectangle around(const Machine& machine, const std::vector<NodeId>& devices);

/// Which way tiles follow each other: along rows there and back again, from the top to the bottom, or down columns and
/// up again, from the left to the right. (WATOS, figure 11: (a) is along rows.)
enum class TilePath : std::uint8_t { serpentine_rows, serpentine_columns };

/// How the devices of a rectangle are numbered. In a cycle each is a neighbour of the next one and the last of the
/// first.
enum class TileOrder : std::uint8_t { rows, cycle };

/// Whether a tile has a cycle: an even side, the other one longer than 1. Two devices are one as well.
[[nodiscard]] bool has_cycle(const Tile& tile);

/// The places of tiles along a path: bands as wide as their first tile, each filled until the next tile is of another
/// width or too long for what is left. On several grids one is filled after the other, each along a path of its own: no
/// tile lies on two. InputError when a tile lies beyond the edge of the last one, saying which.
[[nodiscard]] std::vector<Rectangle> lay_out(const Grid& grid, const std::vector<Tile>& tiles, TilePath path);

/// The devices of a rectangle that lies inside the grid, in order. A tile without a cycle is a snake in its stead:
/// along its rows there and back.
[[nodiscard]] std::vector<NodeId> devices_of(const Grid& grid, const Rectangle& at, TileOrder order);

}  // namespace tessera::machine
