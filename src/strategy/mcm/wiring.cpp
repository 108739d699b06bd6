#include "wiring.hpp"

#include <algorithm>
#include <deque>

namespace tessera::strategy::mcm {
namespace {

Neighbours neighbours(std::uint32_t nodes, std::vector<std::pair<Place, Place>> pairs) {
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  Neighbours result;
  result.begin.assign(nodes + 1, 0);
  for (const auto& [from, to] : pairs) {
    ++result.begin[from + 1];
    result.all.push_back(to);
  }
  for (std::uint32_t place = 0; place < nodes; ++place) result.begin[place + 1] += result.begin[place];
  return result;
}

constexpr std::uint32_t unreached = ~std::uint32_t{0};

// How far above a source each node can be: along an edge one level up at most, against it none. Of all sources that
// were looked at the largest is kept.
class Heights {
 public:
  explicit Heights(const Wiring& wiring)
      : wiring_(&wiring), largest_(wiring.nodes, 0), distance_(wiring.nodes, unreached) {}

  void look_from(Place source) {
    set(source, 0);
    for (open_.push_back(source); !open_.empty();) {
      const Place place = open_.front();
      open_.pop_front();
      for (const Place before : wiring_->sources[place]) {
        if (distance_[before] <= distance_[place]) continue;
        set(before, distance_[place]);
        open_.push_front(before);
      }
      for (const Place reader : wiring_->readers[place]) {
        if (distance_[reader] <= distance_[place] + 1) continue;
        set(reader, distance_[place] + 1);
        open_.push_back(reader);
      }
    }
    for (const Place place : reached_) {
      if (distance_[place] != unreached) largest_[place] = std::max(largest_[place], distance_[place]);
      distance_[place] = unreached;
    }
    looked_ += reached_.size();
    reached_.clear();
  }
  [[nodiscard]] std::uint32_t largest(Place place) const { return largest_[place]; }
  [[nodiscard]] std::uint64_t looked() const { return looked_; }

 private:
  void set(Place place, std::uint32_t distance) {
    distance_[place] = distance;
    reached_.push_back(place);
  }

  const Wiring* wiring_;
  std::vector<std::uint32_t> largest_, distance_;
  std::deque<Place> open_;
  std::vector<Place> reached_;
  std::uint64_t looked_ = 0;
};

// Sources such that each other one has a reader behind one of them. From there all is at most as far as from that one,
// so that the other source is at most one level lower.
std::vector<Place> main_sources(const Wiring& wiring) {
  std::vector<Place> result, open;
  std::vector<bool> is_behind(wiring.nodes, false);
  for (Place source = 0; source < wiring.nodes; ++source) {
    if (!wiring.sources[source].empty()) continue;
    const auto readers = wiring.readers[source];
    if (std::any_of(readers.begin(), readers.end(), [&](Place reader) { return is_behind[reader]; })) continue;
    result.push_back(source);
    for (open.push_back(source); !open.empty();) {
      const Place place = open.back();
      open.pop_back();
      for (const Place reader : wiring.readers[place]) {
        if (is_behind[reader]) continue;
        is_behind[reader] = true;
        open.push_back(reader);
      }
    }
  }
  return result;
}

std::vector<std::uint32_t> components(const Wiring& wiring) {
  std::vector<std::uint32_t> component(wiring.nodes, unreached);
  std::vector<Place> open;
  std::uint32_t count = 0;
  for (Place first = 0; first < wiring.nodes; ++first) {
    if (component[first] != unreached) continue;
    open.push_back(first);
    component[first] = count;
    while (!open.empty()) {
      const Place place = open.back();
      open.pop_back();
      for (const auto& list : {wiring.sources[place], wiring.readers[place]}) {
        for (const Place other : list) {
          if (component[other] != unreached) continue;
          component[other] = count;
          open.push_back(other);
        }
      }
    }
    ++count;
  }
  return component;
}

// In a connected graph some source is on the lowest level, and all levels up to a node's are used. Other components
// can be put below it, each over no more levels than its own height.
std::vector<std::uint32_t> climbs(const Wiring& wiring) {
  std::vector<std::uint32_t> climb(wiring.nodes, wiring.chips - 1);
  constexpr std::uint64_t most_work = 4'000'000;  // some 20 ms
  std::vector<Place> sources;
  for (Place place = 0; place < wiring.nodes; ++place) {
    if (wiring.sources[place].empty()) sources.push_back(place);
  }
  const bool is_exact = sources.size() * wiring.nodes <= most_work;
  if (!is_exact) sources = main_sources(wiring);
  Heights heights(wiring);
  for (const Place source : sources) {
    if (heights.looked() > most_work) return climb;
    heights.look_from(source);
  }
  std::vector<std::uint32_t> largest(wiring.nodes);
  for (Place place = 0; place < wiring.nodes; ++place) largest[place] = heights.largest(place) + (is_exact ? 0 : 1);
  const std::vector<std::uint32_t> component = components(wiring);
  std::vector<std::uint32_t> height(*std::max_element(component.begin(), component.end()) + 1, 0);
  for (Place place = 0; place < wiring.nodes; ++place)
    height[component[place]] = std::max(height[component[place]], largest[place] + 1);
  std::uint64_t all = 0;
  for (const std::uint32_t each : height) all += each;
  for (Place place = 0; place < wiring.nodes; ++place)
    climb[place] = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(climb[place], largest[place] + all - height[component[place]]));
  return climb;
}

}  // namespace

Wiring make_wiring(const Problem& problem) {
  check_problem(problem);
  Wiring wiring;
  wiring.nodes = problem.nodes;
  wiring.chips = problem.chips;
  wiring.order = topological_order(problem);
  wiring.place_of.resize(problem.nodes);
  for (Place place = 0; place < problem.nodes; ++place) wiring.place_of[wiring.order[place]] = place;
  std::vector<std::pair<Place, Place>> down, up;
  for (const Edge& edge : problem.edges) {
    const Place from = wiring.place_of[edge.from], to = wiring.place_of[edge.to];
    down.emplace_back(from, to);
    up.emplace_back(to, from);
  }
  wiring.readers = neighbours(problem.nodes, std::move(down));
  wiring.sources = neighbours(problem.nodes, std::move(up));
  wiring.climb = climbs(wiring);
  return wiring;
}

}  // namespace tessera::strategy::mcm
