#include "tessera/machine/network_builder.hpp"

#include <algorithm>
#include <utility>

#include "tessera/base/error.hpp"

namespace tessera::machine {

NodeId NetworkBuilder::add_switch(const std::string& name) {
  network_.switch_names.push_back(name);
  return network_.devices + network_.switches++;
}

std::uint16_t NetworkBuilder::link_class(const std::string& name) {
  auto& classes = network_.link_classes;
  const auto found = std::find(classes.begin(), classes.end(), name);
  const auto index = static_cast<std::uint16_t>(found - classes.begin());
  if (found == classes.end()) classes.push_back(name);
  return index;
}

void NetworkBuilder::add_link(NodeId from, NodeId to, BytesPerSecond bandwidth, Duration latency,
                              std::uint16_t link_class) {
  const NodeId nodes = network_.nodes();
  if (from >= nodes || to >= nodes || from == to || bandwidth <= BytesPerSecond{0} || latency < Duration{0} ||
      link_class >= network_.link_classes.size()) {
    throw InternalError("link from node " + std::to_string(from) + " to node " + std::to_string(to) +
                        " of a network of " + std::to_string(nodes) + " nodes does not make sense");
  }
  network_.links.push_back({from, to, bandwidth, latency, link_class, false});
}

void NetworkBuilder::add_links_both_ways(NodeId a, NodeId b, BytesPerSecond bandwidth, Duration latency,
                                         std::uint16_t link_class) {
  add_link(a, b, bandwidth, latency, link_class);
  add_link(b, a, bandwidth, latency, link_class);
}

Network NetworkBuilder::finish() {
  Network result = std::exchange(network_, {});
  std::stable_sort(result.links.begin(), result.links.end(),
                   [](const Link& a, const Link& b) { return a.from < b.from; });
  result.first_link.assign(result.nodes() + 1, 0);
  for (const Link& link : result.links) ++result.first_link[link.from + 1];
  for (NodeId node = 0; node < result.nodes(); ++node) result.first_link[node + 1] += result.first_link[node];
  return result;
}

}  // namespace tessera::machine
