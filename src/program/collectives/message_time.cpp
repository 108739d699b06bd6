#include "tessera/program/message_time.hpp"

#include <algorithm>

namespace tessera::program {

MessageTime message_times(const machine::Routes& routes, const machine::Connection& connection, Bytes bytes,
                          Bytes ahead) {
  const machine::Network& network = routes.network();
  const double packet = static_cast<double>(std::min(network.packet, bytes).value()) * static_cast<double>(second);
  double latency = 0, packets = 0, slowest = 0;  // `packets`: the time of a packet on every link
  routes.for_each_link(connection, [&](machine::LinkId id) {
    const machine::Link& link = network.links[id];
    const auto rate = static_cast<double>(link.bandwidth.value());
    latency += static_cast<double>(link.latency.value());
    packets += packet / rate;
    slowest = std::max(slowest, 1 / rate);
  });
  const double message = static_cast<double>((bytes + ahead).value()) * static_cast<double>(second);
  return {latency + packets + (message - packet) * slowest, latency};
}

double message_time(const machine::Routes& routes, const machine::Connection& connection, Bytes bytes, Bytes ahead) {
  return message_times(routes, connection, bytes, ahead).whole;
}

double message_time(const machine::Machine& machine, machine::NodeId from, machine::NodeId to, Bytes bytes,
                    Bytes ahead) {
  return message_time(machine::Routes(machine.network), {from, to}, bytes, ahead);
}

}  // namespace tessera::program
