#include "device_order.hpp"

#include <algorithm>
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
  const int side = std::min(machine.rows, machine.columns), squares = std::max(machine.rows, machine.columns) / side;
  for (int& device : order) {
    const int square = device % squares, place = device / squares;
    const int along = folded(square, squares) * side;  // on the longer axis
    const int row = folded(place / side, side) + (machine.rows > side ? along : 0);
    const int column = folded(place % side, side) + (machine.columns > side ? along : 0);
    device = row * machine.columns + column;
  }
  return order;
}

}  // namespace tessera::strategy::primepar
