#include "sim/laws/fold/own_ways.hpp"

#include <algorithm>

namespace tessera::sim {
namespace {

constexpr pdes::ComponentId unknown = Orbits::none;

/// Whether one of them is before the other in some parts, and not in others.
bool changes_order(const std::vector<pdes::ComponentId>& a, const std::vector<pdes::ComponentId>& b) {
  for (std::size_t i = 1; i < a.size(); ++i)
    if ((a[i] < b[i]) != (a[0] < b[0]) || (b[i] < a[i]) != (b[0] < a[0])) return true;
  return false;
}

}  // namespace

bool OwnWays::add(program::DeviceId from, const std::function<program::DeviceId(program::DeviceId)>& to) {
  std::vector<Ends>& ways = ways_.emplace_back();
  for (std::uint32_t times = 0; times < fold_->order(); ++times) {
    const program::DeviceId device = fold_->shifted(from, times);
    ways.push_back({device, to(device)});
    if (!is_like(ways.front(), ways.back())) return false;
  }
  return true;
}

bool OwnWays::is_like(const Ends& first, const Ends& other) {
  const machine::Routes routes = tables_->routes();
  const std::vector<machine::LinkId> ours = routes.links(first.from, first.to),
                                     theirs = routes.links(other.from, other.to);
  if (ours.size() != theirs.size() || ours.empty() || ours.size() > 2) return false;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const machine::Link &a = tables_->link(ours[i]), &b = tables_->link(theirs[i]);
    if (a.bandwidth != b.bandwidth || a.latency != b.latency) return false;
    // A device on the way would serve the second one.
    if (i > 0 && (tables_->is_device(a.from) || tables_->is_device(b.from))) return false;
    const bool is_last = i + 1 == ours.size();
    if (is_last && (a.to != first.to || b.to != other.to)) return false;
    if (!fold_->add_own_link(*tables_, ours[i], i == 0 ? first.from : first.to, theirs[i],
                             i == 0 ? other.from : other.to))
      return false;
  }
  return true;
}

bool OwnWays::finish() {
  for (const std::vector<Ends>& ways : ways_)
    if (!add_senders(ways)) return false;
  std::vector<Fold::Contested> contested;
  for (const auto& [at, all] : come_) {
    Fold::Contested one = contested_at(at, all);
    if (!one.pairs.empty()) contested.push_back(std::move(one));
  }
  fold_->set_orders({0}, std::move(contested));
  return true;
}

// Over each of its links, one part's is sent to each part.
bool OwnWays::add_senders(const std::vector<Ends>& ways) {
  const std::vector<machine::LinkId> links = tables_->routes().links(ways.front().from, ways.front().to);
  for (std::size_t i = 0; i < links.size(); ++i) {
    Senders senders(fold_->order(), unknown);
    pdes::ComponentId simulated = unknown;
    for (const Ends& ends : ways) {
      const std::vector<machine::LinkId> way = tables_->routes().links(ends.from, ends.to);
      const pdes::ComponentId at = i + 1 < way.size() ? tables_->server(way[i + 1]) : ends.to;
      const StandIn::Place place = fold_->place(at);
      if (place.of == unknown || senders[place.shifts] != unknown) return false;
      senders[place.shifts] = tables_->server(way[i]);
      simulated = place.of;
    }
    come_[simulated].insert(std::move(senders));
  }
  return true;
}

// The component itself calls itself, too.
Fold::Contested OwnWays::contested_at(pdes::ComponentId at, const std::set<Senders>& all) const {
  std::vector<Senders> sides(all.begin(), all.end());
  Senders& own = sides.emplace_back();
  for (std::uint32_t times = 0; times < fold_->order(); ++times) own.push_back(fold_->shifted(at, times));
  Fold::Contested contested{at, {}, {}};
  for (std::size_t i = 0; i < sides.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (changes_order(sides[i], sides[j])) contested.pairs.emplace_back(std::minmax(sides[i][0], sides[j][0]));
  std::ranges::sort(contested.pairs);
  return contested;
}

}  // namespace tessera::sim
