#include "tessera/program/message_time.hpp"

#include <algorithm>

namespace tessera::program {

double message_time(const machine::Machine& machine, machine::NodeId from, machine::NodeId to, Bytes bytes,
                    Bytes ahead) {
  const machine::Network& network = machine.network;
  const double packet = static_cast<double>(std::min(network.packet, bytes).value()) * static_cast<double>(second);
  double latency = 0, packets = 0, slowest = 0;  // `packets`: the time of a packet on every link
  for (machine::NodeId at = from; at != to;) {
    const machine::Link& link = network.links[network.router->next(at, to)];
    const auto rate = static_cast<double>(link.bandwidth.value());
    latency += static_cast<double>(link.latency.value());
    packets += packet / rate;
    slowest = std::max(slowest, 1 / rate);
    at = link.to;
  }
  const double message = static_cast<double>((bytes + ahead).value()) * static_cast<double>(second);
  return latency + packets + (message - packet) * slowest;
}

}  // namespace tessera::program
