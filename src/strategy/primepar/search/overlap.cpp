// The fastest plan where gradients are summed beside the backward pass.
#include <algorithm>
#include <utility>

#include "search.hpp"

namespace tessera::strategy::primepar {
namespace {

constexpr std::int64_t whole = 1024;  // weights are whole parts of it
constexpr int most_weights = 6;       // between the ends; two or three are tried as a rule

Time part(Time time, std::int64_t weight) { return static_cast<Time>(static_cast<Int128>(time) * weight / whole); }

/// A plan takes about as long as the longer of two sums over its operators: what computes, with all sums hidden, or the
/// sums and what comes before them, with the backward pass hidden.
struct Weighed {
  Found found;      ///< with its cost
  Time hidden = 0;  ///< the first one
  Time excess = 0;  ///< of the second one over the first; negative: the backward pass is longer
};

class WeighedSearch {
 public:
  WeighedSearch(CostTables& tables, std::int64_t layers) : tables_(tables), own_(tables.nodes), layers_(layers) {}

  /// The least of (1 - weight) x the first sum + weight x the second one; of whole.
  Weighed at(std::int64_t weight) {
    return least([&](std::size_t node, std::size_t choice) { return part(excess(node, choice), weight); });
  }
  /// The least of what would be if each operator's sum were hidden by its own backward pass alone.
  Weighed each_by_itself() {
    return least([&](std::size_t node, std::size_t choice) { return std::max<Time>(0, excess(node, choice)); });
  }

  [[nodiscard]] std::int64_t relaxations() const { return relaxations_; }

 private:
  template <class Shown>
  Weighed least(const Shown& shown) {
    for (std::size_t i = 0; i < own_.size(); ++i) {
      for (std::size_t choice = 0; choice < own_[i].size(); ++choice)
        tables_.nodes[i][choice] = own_[i][choice] + shown(i, choice);
    }
    Weighed weighed{segmented_search(tables_, layers_)};
    tables_.nodes = own_;
    weighed.hidden = total_cost(tables_, weighed.found.layers);
    for (const Choice& layer : weighed.found.layers) {
      for (std::size_t i = 0; i < layer.size(); ++i) weighed.excess += excess(i, layer[i]);
    }
    weighed.found.cost = weighed.hidden + exposed_sums(tables_, weighed.found.layers);
    relaxations_ += weighed.found.relaxations;
    weighed.found.relaxations = relaxations_;
    return weighed;
  }

  [[nodiscard]] Time excess(std::size_t node, std::size_t choice) const {
    const NodeTimes& times = tables_.beside[node][choice];
    return times.inside + times.across - times.free;
  }

  CostTables& tables_;
  std::vector<std::vector<Time>> own_;
  std::int64_t layers_;
  std::int64_t relaxations_ = 0;
};

/// Between a plan whose sums take longer and one whose backward pass does, the weight at which both cost the same finds
/// one that beats both at that weight, or none is between them.
Found best_of_weights(CostTables& tables, std::int64_t layers) {
  WeighedSearch search(tables, layers);
  Weighed computes = search.at(whole), sums = search.at(0);
  Found best = search.each_by_itself().found;
  for (const Weighed* end : {&sums, &computes}) {
    if (end->found.cost < best.cost) best = end->found;
  }
  for (int tried = 0; tried < most_weights && sums.excess > 0 && computes.excess < sums.excess; ++tried) {
    const Time longer = computes.hidden - sums.hidden, less = sums.excess - computes.excess;
    const std::int64_t weight = std::clamp(longer / (less / whole + 1), Time{1}, Time{whole - 1});
    Weighed middle = search.at(weight);
    if (middle.found.cost < best.cost) best = middle.found;
    const auto worth = [&](const Weighed& one) { return one.hidden + part(one.excess, weight); };
    if (worth(middle) >= std::min(worth(sums), worth(computes))) break;
    (middle.excess > 0 ? sums : computes) = std::move(middle);
  }
  best.relaxations = search.relaxations();
  return best;
}

}  // namespace

// A plan may be the best at no weight. P's plans, whose gradients are not summed at all, and those without it differ
// most; so that P never makes it worse, the latter are searched by themselves as well.
Found overlapped_search(CostTables& tables, std::int64_t layers) {
  if (tables.beside.empty()) return segmented_search(tables, layers);
  Found best = best_of_weights(tables, layers);
  const std::vector<std::vector<Time>> own = tables.nodes;
  if (!forbid_buffers(tables)) return best;
  Found lean = best_of_weights(tables, layers);
  tables.nodes = own;
  lean.relaxations = best.relaxations += lean.relaxations;
  return lean.cost < best.cost ? lean : best;
}

}  // namespace tessera::strategy::primepar
