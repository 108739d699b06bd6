// What lies between a plan that fits into memory and another one.
#include <algorithm>

#include "search.hpp"

namespace tessera::strategy::primepar {
namespace {

constexpr Time worth_while = 1 << 16;  // as a part of a plan's time
constexpr int most_failures = 16;      // of what was foreseen, in a sweep: each is a program to build

/// Some operators of some layers in a row.
struct Stretch {
  std::size_t first_layer, end_layer, first_node, end_node;
};

class Mixer {
 public:
  Mixer(const CostTables& tables, Found found, const Found& other, const Capacity& capacity)
      : tables_(tables), found_(std::move(found)), other_(other.layers), capacity_(capacity) {
    for (std::size_t layer = 0; layer < other_.size(); ++layer) add_layers(layer);
    for (std::size_t layer = 0; layer < other_.size(); ++layer) add_nodes({layer, layer + 1, 0, 0});
    add_nodes({0, other_.size(), 0, 0});
  }

  Found mix() {
    if (stretches_.empty()) return found_;
    foresee(capacity_.peak(found_));
    while (sweep()) continue;
    return found_;
  }

 private:
  /// All layers up to this one, and from it on.
  void add_layers(std::size_t layer) {
    const std::size_t nodes = other_[layer].size();
    if (found_.layers[layer] == other_[layer]) return;
    stretches_.push_back({0, layer + 1, 0, nodes});
    stretches_.push_back({layer, other_.size(), 0, nodes});
  }

  /// All operators in a row of these layers that begin and end with one that is cut otherwise.
  void add_nodes(const Stretch& layers) {
    std::vector<std::size_t> differ;
    for (std::size_t node = 0; node < other_.front().size(); ++node) {
      bool any = false;
      for (std::size_t layer = layers.first_layer; layer < layers.end_layer; ++layer)
        any = any || other_[layer][node] != found_.layers[layer][node];
      if (any) differ.push_back(node);
    }
    for (std::size_t i = 0; i < differ.size(); ++i) {
      for (std::size_t k = i; k < differ.size(); ++k)
        stretches_.push_back({layers.first_layer, layers.end_layer, differ[i], differ[k] + 1});
    }
  }

  [[nodiscard]] std::vector<Choice> with(const Stretch& stretch) const {
    std::vector<Choice> layers = found_.layers;
    for (std::size_t layer = stretch.first_layer; layer < stretch.end_layer; ++layer) {
      for (std::size_t node = stretch.first_node; node < stretch.end_node; ++node)
        layers[layer][node] = other_[layer][node];
    }
    return layers;
  }

  /// Takes peak_bytes() to be as wrong for others as for the plan that is known to need so much.
  void foresee(std::int64_t peak) { too_high_ = peak_bytes(tables_, found_.layers) - peak; }

  /// What it saves; none: as good as nothing, or it does not fit as foreseen.
  [[nodiscard]] Time gain(const std::vector<Choice>& layers) const {
    const Time less = found_.cost - total_cost(tables_, layers) - exposed_sums(tables_, layers);
    return less > found_.cost / worth_while && peak_bytes(tables_, layers) - too_high_ <= capacity_.bytes ? less : 0;
  }

  /// Tries all stretches, those that save the most first. False: none saves anything and fits.
  bool sweep() {
    std::vector<std::pair<Time, const Stretch*>> worth;
    for (const Stretch& stretch : stretches_) {
      if (const Time less = gain(with(stretch)); less > 0) worth.emplace_back(less, &stretch);
    }
    std::stable_sort(worth.begin(), worth.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    bool any = false;
    int failed = 0;
    for (const auto& [unused, stretch] : worth) {
      Found one{with(*stretch), 0, found_.relaxations, found_.struck_out};
      const Time less = gain(one.layers);
      if (less == 0) continue;
      const std::int64_t peak = capacity_.peak(one);
      if (peak > capacity_.bytes) {
        if (++failed == most_failures) break;
        continue;
      }
      one.cost = found_.cost - less;
      found_ = std::move(one);
      foresee(peak);
      any = true;
    }
    return any;
  }

  const CostTables& tables_;
  Found found_;
  const std::vector<Choice>& other_;
  const Capacity& capacity_;
  std::int64_t too_high_ = 0;  // peak_bytes()
  std::vector<Stretch> stretches_;
};

}  // namespace

Found mixed(const CostTables& tables, Found found, const Found& other, const Capacity& capacity) {
  return Mixer(tables, std::move(found), other, capacity).mix();
}

}  // namespace tessera::strategy::primepar
