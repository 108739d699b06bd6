#include "link_loads.hpp"

#include <algorithm>

namespace tessera::strategy::primepar {

LinkLoads::LinkLoads(const machine::Network& network)
    : network_(&network), devices_(static_cast<int>(network.devices)), bytes_(network.links.size(), 0) {
  routes_.resize(static_cast<std::size_t>(devices_) * static_cast<std::size_t>(devices_));
  for (int from = 0; from < devices_; ++from) {
    for (int to = 0; to < devices_; ++to) {
      Route& found = routes_[static_cast<std::size_t>(from * devices_ + to)];
      auto at = static_cast<machine::NodeId>(from);
      const auto end = static_cast<machine::NodeId>(to);
      while (at != end) {
        const machine::LinkId link = network.router->next(at, end);
        found.links.push_back(link);
        found.latency += network.links[link].latency;
        at = network.links[link].to;
      }
    }
  }
}

void LinkLoads::add(int from, int to, std::int64_t bytes) {
  const Route& way = route(from, to);
  for (const machine::LinkId link : way.links) {
    if (bytes_[link] == 0) in_use_.push_back(link);
    bytes_[link] += bytes;
  }
  latency_ = std::max(latency_, way.latency);
}

Time LinkLoads::take() {
  Time longest = 0;
  for (const machine::LinkId link : in_use_) {
    longest = std::max(longest, duration_at_rate(bytes_[link], network_->links[link].bandwidth));
    bytes_[link] = 0;
  }
  in_use_.clear();
  const Time time = longest + latency_;
  latency_ = 0;
  return time;
}

}  // namespace tessera::strategy::primepar
