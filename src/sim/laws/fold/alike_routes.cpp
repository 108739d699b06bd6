#include "sim/laws/fold/alike_routes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>

namespace tessera::sim {

// `other` has the part of `first` so many shifts further on.
bool AlikeRoutes::is_like(machine::LinkId first, machine::LinkId other, std::uint32_t times) {
  const machine::Link &a = tables_->link(first), &b = tables_->link(other);
  const pdes::ComponentId here = tables_->server(first);
  if (tables_->is_device(here) && !fold_->takes_part(here)) {
    problem_ = fmt::format("messages pass through {}, which is in none of the {}", machine_->node_name(here), *name_);
  } else if (!fold_->add_link(*tables_, first, other, times)) {
    problem_ = fmt::format("the link from {} is used by several of the {}, or otherwise than that from {}",
                           machine_->link_name(other), *name_, machine_->link_name(first));
  } else if (a.bandwidth != b.bandwidth || a.latency != b.latency) {
    problem_ = fmt::format("the link from {} has another bandwidth or latency than that from {}",
                           machine_->link_name(other), machine_->link_name(first));
  } else {
    return true;
  }
  return false;
}

bool AlikeRoutes::add(program::DeviceId from, program::DeviceId to) {
  if (from == to) return true;
  const machine::Routes routes = tables_->routes();
  const std::vector<machine::LinkId> way = routes.links(from, to);
  for (std::uint32_t times = 0; times < fold_->order(); ++times) {
    machine::NodeId node = fold_->shifted(from, times);
    const machine::NodeId end = fold_->shifted(to, times);
    std::size_t links = 0;
    for (; links < way.size() && node != end; ++links) {
      const machine::LinkId other = routes.first({node, end});
      if (!is_like(way[links], other, times)) return false;
      node = tables_->link(other).to;
    }
    if (node == end && links == way.size()) continue;
    problem_ = fmt::format("messages from {} to {} do not take as many links as those from {} to {}",
                           machine_->node_name(fold_->shifted(from, times)), machine_->node_name(end),
                           machine_->node_name(from), machine_->node_name(to));
    return false;
  }
  for (std::size_t i = 0; i < way.size(); ++i)
    add_source(i + 1 < way.size() ? tables_->server(way[i + 1]) : to, way[i]);
  return true;
}

void AlikeRoutes::add_source(pdes::ComponentId at, machine::LinkId link) {
  const Fold::Place place = fold_->place(at);
  sources_.emplace_back(place.of, fold_->shifted_link(link, fold_->order() - place.shifts));
}

void AlikeRoutes::find_orders() {
  std::sort(sources_.begin(), sources_.end());
  sources_.erase(std::unique(sources_.begin(), sources_.end()), sources_.end());
  std::map<std::vector<std::uint32_t>, std::uint32_t> known;
  for (std::uint32_t times = 0; times < fold_->order(); ++times) known.try_emplace(places_in_order(times), times);
  std::vector<std::uint32_t> orders;
  for (const auto& [places, times] : known) orders.push_back(times);
  std::sort(orders.begin(), orders.end());
  std::vector<Fold::Contested> contested = find_contested(orders);
  fold_->set_orders(std::move(orders), std::move(contested));
}

// Whose places are not in the same order in all of them.
std::vector<Fold::Contested> AlikeRoutes::find_contested(const std::vector<std::uint32_t>& orders) const {
  std::vector<Fold::Contested> found;
  const std::vector<std::uint32_t> first = places_in_order(0);
  std::vector<std::vector<std::uint32_t>> others;
  for (const std::uint32_t times : orders) others.push_back(places_in_order(times));
  for (std::size_t i = 0, place = 0; i < sources_.size();) {
    const std::size_t begin = i;
    const pdes::ComponentId at = sources_[i].first;
    while (i < sources_.size() && sources_[i].first == at) ++i;
    const std::size_t places = i - begin + 1;  // its own as well
    const auto ours = std::span(first).subspan(place, places);
    if (std::ranges::any_of(others, [&](const auto& theirs) {
          return !std::ranges::equal(ours, std::span(theirs).subspan(place, places));
        })) {
      Fold::Contested& one = found.emplace_back(at);
      for (std::size_t k = begin; k < i; ++k) one.links.push_back(sources_[k].second);
    }
    place += places;
  }
  return found;
}

// The links over which something comes to each component, and the component itself, in the order of those who serve the
// links and of the links there: those that are not in order already.
std::vector<std::uint32_t> AlikeRoutes::places_in_order(std::uint32_t times) const {
  struct Source {
    pdes::ComponentId component = 0;
    machine::LinkId link = 0;
    std::uint32_t place = 0;
    auto operator<=>(const Source&) const = default;
  };
  std::vector<std::uint32_t> all;
  std::vector<Source> of_one;
  for (std::size_t i = 0; i < sources_.size();) {
    const std::size_t first = i;
    const pdes::ComponentId at = sources_[i].first;
    of_one.assign(1, {fold_->shifted(at, times), 0, 0});
    for (; i < sources_.size() && sources_[i].first == at; ++i) {
      const machine::LinkId link = fold_->shifted_link(sources_[i].second, times);
      of_one.push_back({tables_->server(link), link, static_cast<std::uint32_t>(i - first + 1)});
    }
    std::sort(of_one.begin(), of_one.end());
    for (const Source& source : of_one) all.push_back(source.place);
  }
  return all;
}

}  // namespace tessera::sim
