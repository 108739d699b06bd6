// Rectangles along a path, and the order of devices in them.
#include <catch2/catch.hpp>

#include <cstdlib>
#include <set>

#include "tessera/base/error.hpp"
#include "tessera/machine/tiles.hpp"

using namespace tessera;
using namespace tessera::machine;

namespace {

/// Links between two devices of a mesh.
int hops(const Grid& grid, NodeId a, NodeId b) {
  const auto columns = static_cast<NodeId>(grid.columns);
  const auto apart = [](NodeId one, NodeId other) { return std::abs(static_cast<int>(one) - static_cast<int>(other)); };
  return apart(a % columns, b % columns) + apart(a / columns, b / columns);
}

/// Twice the distance between the centres of two rectangles, in links.
int twice_apart(const Rectangle& a, const Rectangle& b) {
  return std::abs(2 * a.x + a.tile.columns - 2 * b.x - b.tile.columns) +
         std::abs(2 * a.y + a.tile.rows - 2 * b.y - b.tile.rows);
}

}  // namespace

TEST_CASE("a cycle goes from neighbour to neighbour and closes; what has none is a snake") {
  for (int columns = 1; columns <= 6; ++columns) {
    for (int rows = 1; rows <= 6; ++rows) {
      const Grid grid{columns + 1, rows + 2, false};
      const std::vector<NodeId> devices = devices_of(grid, {1, 2, {columns, rows}}, TileOrder::cycle);
      INFO(columns << " x " << rows);
      CHECK(std::set<NodeId>(devices.begin(), devices.end()).size() == static_cast<std::size_t>(columns * rows));
      for (std::size_t i = 1; i < devices.size(); ++i) CHECK(hops(grid, devices[i - 1], devices[i]) == 1);
      if (has_cycle({columns, rows})) CHECK(hops(grid, devices.back(), devices.front()) == 1);
    }
  }
  CHECK_FALSE(has_cycle({3, 3}));
  CHECK_FALSE(has_cycle({1, 4}));
  CHECK_FALSE(has_cycle({1, 1}));
  CHECK(has_cycle({2, 3}));
  // Of 3 x 2 on a mesh of 4: from the corner along the second row's end: 0, then 1, 2, 6, 5, and 4 leads back.
  CHECK(devices_of({4, 2, false}, {0, 0, {3, 2}}, TileOrder::cycle) == std::vector<NodeId>{0, 1, 2, 6, 5, 4});
  CHECK(devices_of({4, 2, false}, {1, 0, {3, 2}}, TileOrder::rows) == std::vector<NodeId>{1, 2, 3, 5, 6, 7});
}

TEST_CASE("WATOS, figure 11: eight stages of 4 x 2 dies on 8 x 8, by both serpentines") {
  const Grid grid{8, 8, false};
  const std::vector<Tile> tiles(8, Tile{4, 2});
  // Between stages: 4 links along a row of stages, 2 down to the next one; the pairs are stages 1 and 8, 2 and 7.
  const auto pipeline = [](const std::vector<Rectangle>& at) {
    int sum = 0;
    for (std::size_t i = 1; i < at.size(); ++i) sum += twice_apart(at[i - 1], at[i]);
    return sum / 2;
  };
  const std::vector<Rectangle> rows = lay_out(grid, tiles, TilePath::serpentine_rows);
  CHECK(pipeline(rows) == 4 + 2 + 4 + 2 + 4 + 2 + 4);
  CHECK(twice_apart(rows[0], rows[7]) / 2 == 6);
  CHECK(twice_apart(rows[1], rows[6]) / 2 == 6);
  // Down the left half and up the right one: 3 x 2 down, 4 across, 3 x 2 up; the pairs are side by side.
  const std::vector<Rectangle> columns = lay_out(grid, tiles, TilePath::serpentine_columns);
  CHECK(pipeline(columns) == 3 * 2 + 4 + 3 * 2);
  CHECK(twice_apart(columns[0], columns[7]) / 2 == 4);
  CHECK(twice_apart(columns[1], columns[6]) / 2 == 4);
}

TEST_CASE("on several wafers each is filled by itself, and no tile lies on two") {
  // Three columns hold one tile of two: the third column stays empty, though the next wafer has room beside it.
  const std::vector<Rectangle> at =
      lay_out({3, 2, false, 2}, std::vector<Tile>(3, Tile{2, 1}), TilePath::serpentine_rows);
  REQUIRE(at.size() == 3);
  CHECK((at[1].grid == 0 && at[1].x == 1 && at[1].y == 1));  // on the way back
  CHECK((at[2].grid == 1 && at[2].x == 0 && at[2].y == 0));
  CHECK(devices_of({3, 2, false, 2}, at[2], TileOrder::rows) == std::vector<NodeId>{6, 7});
  CHECK_THROWS_WITH(lay_out({3, 2, false, 2}, std::vector<Tile>(5, Tile{2, 1}), TilePath::serpentine_rows),
                    "tile 4 of 5, 2x1, lies beyond the edge of the 3 columns and 2 rows of 2 grids");
  // Larger than a wafer, and not than two of them together.
  CHECK_THROWS_AS(lay_out({3, 2, false, 2}, {Tile{4, 1}}, TilePath::serpentine_rows), InputError);
}

TEST_CASE("tiles of two shapes fill a mesh of 7 x 8") {
  std::vector<Tile> tiles(12, Tile{2, 2});
  tiles.insert(tiles.end(), 2, Tile{1, 4});
  const std::vector<Rectangle> at = lay_out({7, 8, false}, tiles, TilePath::serpentine_columns);
  std::set<NodeId> taken;
  for (const Rectangle& one : at) {
    for (const NodeId device : devices_of({7, 8, false}, one, TileOrder::cycle)) taken.insert(device);
  }
  CHECK(taken.size() == 56);
  // The third band goes down, so the column behind it goes up: its first tile has rows 4 to 7.
  CHECK((at[12].x == 6 && at[12].y == 4));
  CHECK((at[13].x == 6 && at[13].y == 0));
  for (std::size_t i = 1; i < 12; ++i) CHECK(twice_apart(at[i - 1], at[i]) == 4);
  CHECK_THROWS_WITH(lay_out({7, 8, false}, std::vector<Tile>(14, Tile{2, 2}), TilePath::serpentine_columns),
                    "tile 12 of 14, 2x2, lies beyond the edge of the 7 columns and 8 rows");
  CHECK_THROWS_AS(lay_out({7, 8, false}, {Tile{8, 1}}, TilePath::serpentine_rows), InputError);
}
