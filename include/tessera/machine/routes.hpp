// The one walk of a way: over which links a message goes. Whatever asks how it gets from one device to another asks
// here.
#pragma once

#include <vector>

#include "tessera/machine/machine.hpp"

namespace tessera::machine {

/// A view of a network, which outlives it: as cheap to make and to copy as a pointer.
class Routes {
 public:
  explicit Routes(const Network& network) : network_(&network) {}

  /// The link over which what is at `node`, and goes to device `to`, leaves; no_link where it is there, where there is
  /// no way, and at switches that are on no device's way to it.
  [[nodiscard]] LinkId first(NodeId node, NodeId to) const { return network_->router->next(node, to); }

  /// The link that follows another one on the way to device `to`; no_link behind the last one.
  [[nodiscard]] LinkId next(LinkId link, NodeId to) const { return first(network_->links[link].to, to); }

  /// Calls act(link) for all links of a way, in order; for none when there is no way, and when from == to.
  template <class Act>
  void for_each_link(NodeId from, NodeId to, Act&& act) const {
    for (LinkId link = first(from, to); link != no_link; link = next(link, to)) act(link);
  }

  /// The last link of a way; no_link when there is no way, and when from == to.
  [[nodiscard]] LinkId last(NodeId from, NodeId to) const {
    LinkId found = no_link;
    for_each_link(from, to, [&](LinkId link) { found = link; });
    return found;
  }

  /// All links of a way, in order; none as above. Throws InternalError when the router runs in circles.
  [[nodiscard]] std::vector<LinkId> links(NodeId from, NodeId to) const;

 private:
  const Network* network_;
};

}  // namespace tessera::machine
