#include "handful.hpp"

#include <algorithm>

#include "narrow.hpp"

namespace tessera::strategy::primepar {
namespace {

constexpr std::size_t most_choices = 64;  // of an operator

/// Some of all plans, and the fastest of them.
struct Part {
  std::vector<std::vector<Time>> nodes;  ///< CostTables::nodes; what is not among these plans costs too much
  Found found;
  bool fits = false;  ///< known to
};

/// Plans are parted by what their products may be: those that the fastest has, and, product by product, all others
/// (Lawler 1972).
class Parting {
 public:
  Parting(Narrowed narrowed, std::int64_t layers, const Capacity& capacity, const std::vector<std::size_t>& products)
      : narrowed_(std::move(narrowed)),
        tables_(narrowed_.tables),
        all_(tables_.nodes),
        layers_(layers),
        capacity_{capacity.bytes, [this, &capacity](const Found& found) { return capacity.peak(widened(found)); }},
        products_(products) {}

  std::vector<Found> run(const Found& best, std::size_t count) {
    std::vector<Found> found{best};
    part({all_, inside(best), true});
    while (found.size() < count && !open_.empty()) {
      Part next = take_first();
      if (!next.fits && !make_fit(next)) continue;
      // What had to be cut otherwise to fit may be slower than another one.
      if (!open_.empty() && std::ranges::min(open_, {}, cost_of).found.cost < next.found.cost) {
        open_.push_back(std::move(next));
        continue;
      }
      found.push_back(widened(next.found));
      part(next);
    }
    // Where not all fits, the plan that a search finds need not be the fastest of its part.
    std::ranges::stable_sort(found.begin() + 1, found.end(), {}, &Found::cost);
    return found;
  }

 private:
  static Time cost_of(const Part& part) { return part.found.cost; }

  [[nodiscard]] Found widened(const Found& found) const {
    return {narrowed_.widened(found.layers), found.cost, found.relaxations};
  }

  [[nodiscard]] Found inside(const Found& found) const {
    Found own = found;
    for (Choice& layer : own.layers) {
      for (std::size_t node = 0; node < layer.size(); ++node) {
        const Choice& kept = narrowed_.kept[node];
        layer[node] = static_cast<std::size_t>(std::ranges::find(kept, layer[node]) - kept.begin());
      }
    }
    return own;
  }

  Part take_first() {
    const auto first = std::ranges::min_element(open_, {}, cost_of);
    Part part = std::move(*first);
    open_.erase(first);
    return part;
  }

  /// False: none of these plans fits.
  bool make_fit(Part& part) {
    part.fits = capacity_.fits(part.found);
    if (part.fits) return true;
    tables_.nodes = part.nodes;
    part.found = search_that_fits(tables_, layers_, capacity_);
    tables_.nodes = all_;
    part.fits = part.found.cost < too_much && capacity_.fits(part.found);
    return part.fits;
  }

  /// All of these plans but those whose products are cut as in the fastest.
  void part(const Part& whole) {
    std::vector<std::vector<Time>> nodes = whole.nodes;
    for (const std::size_t product : products_) {
      const std::vector<Time> before = nodes[product];
      for (std::size_t choice = 0; choice < before.size(); ++choice) {
        if (is_used(whole.found, product, choice)) nodes[product][choice] = too_much;
      }
      if (std::ranges::min(nodes[product]) < too_much) search(nodes);
      for (std::size_t choice = 0; choice < before.size(); ++choice)
        nodes[product][choice] = nodes[product][choice] < too_much ? too_much : before[choice];
    }
  }

  /// Or one that costs as much.
  [[nodiscard]] bool is_used(const Found& found, std::size_t node, std::size_t choice) const {
    return std::ranges::any_of(found.layers, [&](const Choice& layer) {
      return all_[node][layer[node]] == all_[node][choice] && sums(node, layer[node]) == sums(node, choice);
    });
  }
  [[nodiscard]] Time sums(std::size_t node, std::size_t choice) const {
    if (tables_.beside.empty()) return 0;
    return tables_.beside[node][choice].inside + tables_.beside[node][choice].across;
  }

  void search(const std::vector<std::vector<Time>>& nodes) {
    tables_.nodes = nodes;
    Found found = overlapped_search(tables_, layers_);
    tables_.nodes = all_;
    if (found.cost < too_much) open_.push_back({nodes, std::move(found)});
  }

  Narrowed narrowed_;
  CostTables& tables_;
  const std::vector<std::vector<Time>> all_;
  std::int64_t layers_;
  Capacity capacity_;
  const std::vector<std::size_t>& products_;
  std::vector<Part> open_;
};

}  // namespace

std::vector<Found> handful(const CostTables& tables, std::int64_t layers, const Capacity& capacity, const Found& best,
                           const std::vector<std::size_t>& products, std::size_t count) {
  return Parting(narrowed(tables, best.layers, most_choices), layers, capacity, products).run(best, count);
}

}  // namespace tessera::strategy::primepar
