#include "sim/laws/promises/transit.hpp"

#include <algorithm>
#include <functional>

namespace tessera::sim {

std::vector<bool> find_transits(const NetworkTables& tables, const Wiring& wiring, const pdes::Partition& partition) {
  const auto passes_on = [&](pdes::ComponentId id) { return !tables.is_device(id) || wiring.may_pass(id); };
  std::vector<bool> transits(tables.components(), false);
  const std::vector<pdes::LinkInfo> links = wiring.links();
  for (bool changed = true; changed;) {
    changed = false;
    for (const pdes::LinkInfo& link : links) {
      if (transits[link.from] || !passes_on(link.from)) continue;
      if (partition.rank_of[link.from] == partition.rank_of[link.to] && !transits[link.to]) continue;
      transits[link.from] = changed = true;
    }
  }
  return transits;
}

void TransitTimes::comes(pdes::ComponentId to, Time at) {
  if (!(*transits_)[to] || partition_->rank_of[to] != rank_) return;
  times_.push_back(at);
  std::ranges::push_heap(times_, std::greater<>());
}

// What was to come before has been handled: it is in the ports.
Time TransitTimes::first(Time from) {
  while (!times_.empty() && times_.front() < from) {
    std::ranges::pop_heap(times_, std::greater<>());
    times_.pop_back();
  }
  return times_.empty() ? never : times_.front();
}

}  // namespace tessera::sim
