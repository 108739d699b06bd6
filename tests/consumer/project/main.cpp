// Uses an installed Tessera as a library: the engine with components of its own, and a machine of its own.
#include <iostream>

#include "ping_pong.hpp"
#include "star.hpp"

int main() {
  using namespace tessera;
  const auto comm = make_serial_communicator();

  // Ten throws of 3 ns each: the last one is caught after 30 ns.
  const Time caught = play(10, 3 * nanosecond, *comm);
  std::cout << "caught last after " << caught << " ps\n";

  const machine::Machine star = make_star(5, 100'000'000'000, 250 * nanosecond);
  for (const machine::LinkId link : machine::route(star.network, 1, 4)) std::cout << star.link_name(link) << '\n';
  const bool routed = machine::route(star.network, 1, 4).size() == 2 && star.node_name(5) == "hub";

  return caught == 30 * nanosecond && routed ? 0 : 1;
}
