#include "tessera/sim/network/arbitration.hpp"

namespace tessera::sim {

const std::vector<PortArbitrationKind>& port_arbitration_kinds() {
  static const std::vector<PortArbitrationKind> kinds = {
      {"fifo", "packets in the order in which they come", fifo_arbitration()},
      {"round-robin", "the inputs of a link take turns, a packet each; simulated packet by packet, without laws",
       round_robin_arbitration()}};
  return kinds;
}

}  // namespace tessera::sim
