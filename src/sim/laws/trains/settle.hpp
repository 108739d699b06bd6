// Ports of a node that serve trains of packets.
#pragma once

#include "sim/laws/trains/train_port.hpp"
#include "sim/network/node.hpp"

namespace tessera::sim {

/// TrainPort::settle, in a context of this component.
[[nodiscard]] inline bool settle(NetworkNode& node, pdes::Context& own, std::uint32_t port) {
  return node.with_sink(own, [&](PortSink& sink) { return train_port(node.port(port)).settle(own.now(), sink); });
}

}  // namespace tessera::sim
