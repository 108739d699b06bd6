#include "sim/fold/alike_routes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace tessera::sim {

// `other` has the part of `first` so many shifts further on.
bool AlikeRoutes::is_like(machine::LinkId first, machine::LinkId other, std::uint32_t times) {
  const machine::Link &a = tables_->link(first), &b = tables_->link(other);
  const pdes::ComponentId here = tables_->server(first), there = tables_->server(other);
  const auto& first_link = tables_->network().first_link;
  bool same = tables_->is_device(here) == tables_->is_device(there);
  if (same && tables_->is_device(here)) {
    same = fold_->takes_part(here) && fold_->shifted(here, times) == there &&
           first - first_link[here] == other - first_link[there];
  } else if (same) {
    same = fold_->add_output(here, there, times);
  }
  if (!same) {
    problem_ = fmt::format("the link from {} is used by several replicas, or otherwise than that from {}",
                           machine_->link_name(other), machine_->link_name(first));
  } else if (a.bandwidth != b.bandwidth || a.latency != b.latency) {
    problem_ = fmt::format("the link from {} has another bandwidth or latency than that from {}",
                           machine_->link_name(other), machine_->link_name(first));
    same = false;
  }
  return same;
}

bool AlikeRoutes::add(program::DeviceId from, program::DeviceId to) {
  if (from == to) return true;
  const machine::Router& router = *tables_->network().router;
  std::vector<machine::LinkId> way;
  for (machine::NodeId node = from; node != to; node = tables_->link(way.back()).to)
    way.push_back(router.next(node, to));
  for (std::uint32_t times = 0; times < fold_->order(); ++times) {
    machine::NodeId node = fold_->shifted(from, times);
    const machine::NodeId end = fold_->shifted(to, times);
    for (const machine::LinkId link : way) {
      const machine::LinkId other = router.next(node, end);
      if (other == machine::no_link) break;
      if (!is_like(link, other, times)) return false;
      node = tables_->link(other).to;
    }
    if (node == end) continue;
    problem_ = fmt::format("messages from {} to {} take more links than those from {} to {}",
                           machine_->node_name(fold_->shifted(from, times)), machine_->node_name(end),
                           machine_->node_name(from), machine_->node_name(to));
    return false;
  }
  for (std::size_t i = 0; i < way.size(); ++i)
    add_source(i + 1 < way.size() ? tables_->server(way[i + 1]) : to, tables_->server(way[i]));
  return true;
}

void AlikeRoutes::add_source(pdes::ComponentId at, pdes::ComponentId source) {
  const Fold::Place place = fold_->place(at);
  sources_.emplace_back(place.of, fold_->shifted_back(source, place.shifts));
}

void AlikeRoutes::find_orders() {
  std::sort(sources_.begin(), sources_.end());
  sources_.erase(std::unique(sources_.begin(), sources_.end()), sources_.end());
  std::map<std::vector<std::uint32_t>, std::uint32_t> known;
  for (std::uint32_t times = 0; times < fold_->order(); ++times) known.try_emplace(places_in_order(times), times);
  std::vector<std::uint32_t> orders;
  for (const auto& [places, times] : known) orders.push_back(times);
  std::sort(orders.begin(), orders.end());
  fold_->set_orders(std::move(orders));
}

// The sources of each component, and itself, in the order of their numbers there: those that are not in order already.
std::vector<std::uint32_t> AlikeRoutes::places_in_order(std::uint32_t times) const {
  std::vector<std::uint32_t> all;
  std::vector<std::pair<pdes::ComponentId, std::uint32_t>> of_one;
  for (std::size_t i = 0; i < sources_.size();) {
    const std::size_t first = i;
    const pdes::ComponentId at = sources_[i].first;
    of_one.assign(1, {fold_->shifted(at, times), 0});
    for (; i < sources_.size() && sources_[i].first == at; ++i)
      of_one.emplace_back(fold_->shifted(sources_[i].second, times), static_cast<std::uint32_t>(i - first + 1));
    std::sort(of_one.begin(), of_one.end());
    for (const auto& [source, place] : of_one) all.push_back(place);
  }
  return all;
}

}  // namespace tessera::sim
