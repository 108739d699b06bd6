// Where the devices of a partition are on the machine.
#include "tessera/machine/device_order.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>

#include "program/machines.hpp"

using namespace tessera;
using namespace tessera::machine;

namespace {

machine::Machine mesh(int columns, int rows) {
  machine::Machine machine;
  machine.topology = "mesh";
  machine.grid = {columns, rows, false};
  machine.network.devices = static_cast<NodeId>(columns * rows);
  return machine;
}

int hops(const Machine& machine, int a, int b, bool along_row) {
  return along_row ? std::abs(a % machine.grid.columns - b % machine.grid.columns)
                   : std::abs(a / machine.grid.columns - b / machine.grid.columns);
}

}  // namespace

TEST_CASE("device order: a row of eight dies is folded") {
  // 0 1 2 3 4 5 6 7 on the ring are the columns 0 2 4 6 7 5 3 1.
  CHECK(device_order(mesh(8, 1)) == std::vector<int>{0, 2, 4, 6, 7, 5, 3, 1});
  // Two rows of four: columns 0 2 3 1, rows 0 1.
  CHECK(device_order(mesh(4, 2)) == std::vector<int>{0, 2, 3, 1, 4, 6, 7, 5});
}

TEST_CASE("device order: neighbours on the torus of all dies are at most two hops apart, each once") {
  for (const auto& [columns, rows] : {std::pair(8, 8), {4, 8}, {16, 2}, {2, 2}}) {
    const machine::Machine machine = mesh(columns, rows);
    std::vector<int> order = device_order(machine);
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < columns; ++c) {
        const auto at = [&](int row, int column) {
          return order[static_cast<std::size_t>((row % rows) * columns + column % columns)];
        };
        CHECK(hops(machine, at(r, c), at(r, c + 1), true) <= 2);
        CHECK(hops(machine, at(r, c), at(r, c + 1), false) == 0);
        CHECK(hops(machine, at(r, c), at(r + 1, c), false) <= 2);
        CHECK(hops(machine, at(r, c), at(r + 1, c), true) == 0);
      }
    }
    std::sort(order.begin(), order.end());
    for (std::size_t i = 0; i < order.size(); ++i) CHECK(order[i] == static_cast<int>(i));
  }
}

TEST_CASE("device order: elsewhere numbers are the machine's") {
  CHECK(device_order(program::nodes_of(8, 4)) == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(device_order(mesh(3, 2)) == std::vector<int>{0, 1, 2, 3, 4, 5});
  machine::Machine torus = mesh(4, 2);
  torus.grid.wrap = true;
  CHECK(device_order(torus) == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7});
}
