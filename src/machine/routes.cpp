#include "tessera/machine/routes.hpp"

#include <string>

#include "tessera/base/error.hpp"

namespace tessera::machine {

std::vector<LinkId> Routes::links(NodeId from, NodeId to) const {
  std::vector<LinkId> way;
  for (LinkId link = first(from, to); link != no_link; link = next(link, to)) {
    way.push_back(link);
    if (way.size() > network_->nodes()) {
      throw InternalError("the route from node " + std::to_string(from) + " to node " + std::to_string(to) +
                          " runs in circles");
    }
  }
  if (!way.empty() && network_->links[way.back()].to != to) return {};
  return way;
}

}  // namespace tessera::machine
