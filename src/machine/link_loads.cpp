#include "tessera/machine/link_loads.hpp"

#include <algorithm>
#include <utility>

#include "tessera/machine/device_order.hpp"
#include "tessera/machine/routes.hpp"

namespace tessera::machine {
namespace {

std::vector<std::int64_t> all_rates(const Network& network) {
  std::vector<std::int64_t> rates;
  for (const machine::Link& link : network.links) rates.push_back(link.bandwidth.value());
  std::sort(rates.begin(), rates.end());
  rates.erase(std::unique(rates.begin(), rates.end()), rates.end());
  return rates;
}

}  // namespace

LinkLoads::LinkLoads(const Machine& machine)
    : devices_(static_cast<int>(machine.accelerators())),
      rates_(all_rates(machine.network)),
      bytes_(machine.network.links.size(), 0) {
  const Network& network = machine.network;
  const std::vector<int> order = device_order(machine);
  for (const machine::Link& link : network.links)
    rate_of_.push_back(static_cast<std::size_t>(std::lower_bound(rates_.begin(), rates_.end(), link.bandwidth.value()) -
                                                rates_.begin()));
  routes_.resize(static_cast<std::size_t>(devices_) * static_cast<std::size_t>(devices_));
  for (int from = 0; from < devices_; ++from) {
    for (int to = 0; to < devices_; ++to) {
      Route& found = routes_[static_cast<std::size_t>(from * devices_ + to)];
      found.links = Routes(network).links(static_cast<NodeId>(order[static_cast<std::size_t>(from)]),
                                          static_cast<NodeId>(order[static_cast<std::size_t>(to)]));
      for (const LinkId link : found.links) found.latency += network.links[link].latency.value();
    }
  }
}

void LinkLoads::add(int from, int to, Bytes bytes) {
  const Route& way = route(from, to);
  for (const LinkId link : way.links) {
    if (bytes_[link] == 0) in_use_.push_back(link);
    bytes_[link] += bytes.value();
  }
  latency_ = std::max(latency_, way.latency);
}

LinkLoads::Burden LinkLoads::burden() {
  Burden found{std::vector<std::int64_t>(rates_.size(), 0), std::exchange(latency_, 0)};
  for (const LinkId link : in_use_) {
    std::int64_t& most = found.most[rate_of_[link]];
    most = std::max(most, bytes_[link]);
    bytes_[link] = 0;
  }
  in_use_.clear();
  return found;
}

Time LinkLoads::time(const Burden& burden, std::int64_t times) const {
  Time longest = 0;
  for (std::size_t i = 0; i < rates_.size(); ++i) {
    if (burden.most[i] > 0)
      longest = std::max(longest,
                         duration_at_rate(Bytes{saturating_times(times, burden.most[i])}, BytesPerSecond{rates_[i]}));
  }
  return saturating_add(longest, burden.latency);
}

}  // namespace tessera::machine
