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

// From one source: along an edge one level up at most, against it none. Of all sources the largest is kept.
void raise_by_source(const Wiring& wiring, Place source, std::vector<std::uint32_t>& distance,
                     std::vector<std::uint32_t>& largest) {
  std::fill(distance.begin(), distance.end(), unreached);
  std::deque<Place> open{source};
  distance[source] = 0;
  while (!open.empty()) {
    const Place place = open.front();
    open.pop_front();
    for (const Place before : wiring.sources[place]) {
      if (distance[before] <= distance[place]) continue;
      distance[before] = distance[place];
      open.push_front(before);
    }
    for (const Place reader : wiring.readers[place]) {
      if (distance[reader] <= distance[place] + 1) continue;
      distance[reader] = distance[place] + 1;
      open.push_back(reader);
    }
  }
  for (Place place = 0; place < wiring.nodes; ++place) {
    if (distance[place] != unreached) largest[place] = std::max(largest[place], distance[place]);
  }
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
  std::uint64_t sources = 0;
  for (Place place = 0; place < wiring.nodes; ++place) sources += wiring.sources[place].empty() ? 1U : 0U;
  // Beyond, the bound costs more than the failures that it saves: a graph of this size reaches all chips.
  if (sources * wiring.nodes > 2'000'000) return climb;
  std::vector<std::uint32_t> largest(wiring.nodes, 0), distance(wiring.nodes);
  for (Place place = 0; place < wiring.nodes; ++place) {
    if (wiring.sources[place].empty()) raise_by_source(wiring, place, distance, largest);
  }
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
