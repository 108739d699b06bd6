#include "device_order.hpp"

#include <bit>
#include <numeric>

namespace tessera::strategy::primepar {
namespace {

/// Place on a line of the so-manieth of a ring.
int folded(int number, int side) { return 2 * number < side ? 2 * number : 2 * (side - number) - 1; }

bool is_power_of_two(int side) { return side > 0 && std::has_single_bit(static_cast<unsigned>(side)); }

}  // namespace

std::vector<int> device_order(const machine::Machine& machine) {
  std::vector<int> order(machine.devices());
  std::iota(order.begin(), order.end(), 0);
  if (machine.topology != "mesh" || !is_power_of_two(machine.columns) || !is_power_of_two(machine.rows)) return order;
  for (int& device : order) {
    const int row = device / machine.columns, column = device % machine.columns;
    device = folded(row, machine.rows) * machine.columns + folded(column, machine.columns);
  }
  return order;
}

}  // namespace tessera::strategy::primepar
