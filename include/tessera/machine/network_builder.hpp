// Puts a network together link by link; used by every topology, and by programs that bring their own.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tessera/machine/machine.hpp"

namespace tessera::machine {

/// Collects switches and links in any order; finish() lays the links out by node, keeping for each node the order in
/// which its links were added. A router may therefore count on "the k-th link of node n" being first_link[n] + k.
class NetworkBuilder {
 public:
  explicit NetworkBuilder(NodeId devices) { network_.devices = devices; }

  /// The next switch, called `name` in results and messages.
  NodeId add_switch(const std::string& name);
  /// Index of the class of that name, new when it is the first of it.
  std::uint16_t link_class(const std::string& name);
  /// One direction. Bandwidth more than 0, latency not negative; both ends exist (InternalError otherwise).
  void add_link(NodeId from, NodeId to, BytesPerSecond bandwidth, Duration latency, std::uint16_t link_class);
  void add_links_both_ways(NodeId a, NodeId b, BytesPerSecond bandwidth, Duration latency, std::uint16_t link_class);

  /// The network, without router and packet size. The builder is empty afterwards.
  [[nodiscard]] Network finish();

 private:
  Network network_;
};

}  // namespace tessera::machine
