// Which components have had to do with each other since a moment: those that have not, are on islands of their own, and
// what happens on one depends on nothing outside.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "tessera/pdes/event.hpp"

namespace tessera::sim {

class Islands {
 public:
  explicit Islands(std::size_t components) : parent_(components), next_(components) {
    std::iota(parent_.begin(), parent_.end(), 0);
    next_ = parent_;
  }
  /// The first component of the island that this one is on.
  [[nodiscard]] pdes::ComponentId of(pdes::ComponentId component) {
    while (parent_[component] != component) component = parent_[component] = parent_[parent_[component]];
    return component;
  }
  void join(pdes::ComponentId a, pdes::ComponentId b) {
    const auto [first, second] = std::minmax({of(a), of(b)});
    if (first == second) return;
    parent_[second] = first;
    std::swap(next_[first], next_[second]);
  }
  /// In order.
  [[nodiscard]] std::vector<pdes::ComponentId> parts(pdes::ComponentId component) const {
    std::vector<pdes::ComponentId> parts{component};
    for (pdes::ComponentId one = next_[component]; one != component; one = next_[one]) parts.push_back(one);
    std::sort(parts.begin(), parts.end());
    return parts;
  }

 private:
  std::vector<pdes::ComponentId> parent_;
  std::vector<pdes::ComponentId> next_;  // on the island, round it
};

}  // namespace tessera::sim
