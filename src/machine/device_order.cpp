#include "tessera/machine/device_order.hpp"

#include <bit>
#include <numeric>

namespace tessera::machine {
namespace {

/// Place on a line of the so-manieth of a ring.
int folded(int number, int side) { return 2 * number < side ? 2 * number : 2 * (side - number) - 1; }

bool is_power_of_two(int side) { return side > 0 && std::has_single_bit(static_cast<unsigned>(side)); }

}  // namespace

std::vector<int> device_order(const Machine& machine) {
  std::vector<int> order(machine.accelerators());
  std::iota(order.begin(), order.end(), 0);
  if (machine.grid.wrap || machine.grid.count > 1 || !is_power_of_two(machine.grid.columns) ||
      !is_power_of_two(machine.grid.rows))
    return order;
  for (int& device : order) {
    const int row = device / machine.grid.columns, column = device % machine.grid.columns;
    device = folded(row, machine.grid.rows) * machine.grid.columns + folded(column, machine.grid.columns);
  }
  return order;
}

}  // namespace tessera::machine
