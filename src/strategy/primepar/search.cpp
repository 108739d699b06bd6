#include "search.hpp"

#include <limits>
#include <map>
#include <utility>

#include "chain.hpp"
#include "tessera/base/error.hpp"

namespace tessera::strategy::primepar {
namespace {

constexpr double unreachable = std::numeric_limits<double>::infinity();

/// What everything from one place to another costs at the least, by the choices there.
struct Table {
  std::size_t first = 0, last = 0;  ///< places
  Costs costs;
  int left = -1, right = -1;  ///< tables that it was merged of; none: places that follow each other
};

/// One layer, as the first or behind another.
class LayerSearch {
 public:
  explicit LayerSearch(const CostTables& tables) : costs_(tables), first_(tables, true), next_(tables, false) {}

  /// By the choice of the last operator before (one, of nobody, before the first layer) and of the layer's last one.
  const Costs& layer(bool is_first) {
    int& known = is_first ? first_layer_ : next_layer_;
    if (known < 0) known = next_.carried_node() ? carry(is_first) : make_layer(chain(is_first));
    return table(known).costs;
  }

  /// What is chosen between these.
  Choice trace(bool is_first, std::size_t before, std::size_t last) {
    const double cost = layer(is_first).at(before, last);
    if (const auto node = next_.carried_node()) return trace_carried(*node, cost, is_first, before, last);
    Choice places(chain(is_first).size(), 0);
    trace(chain(is_first), is_first ? first_layer_ : next_layer_, before, last, places);
    return {places.begin() + 1, places.end()};
  }

  [[nodiscard]] std::int64_t relaxations() const { return relaxations_; }

 private:
  [[nodiscard]] const Chain& chain(bool is_first) const { return is_first ? first_ : next_; }
  [[nodiscard]] const Table& table(int index) const { return tables_[static_cast<std::size_t>(index)]; }

  int add(Table table) {
    tables_.push_back(std::move(table));
    return static_cast<int>(tables_.size()) - 1;
  }

  int make_layer(const Chain& chain) {
    const std::vector<std::size_t>& bounds = chain.bounds();
    int all = make_segment(chain, bounds[0], bounds[1]);
    for (std::size_t i = 2; i < bounds.size(); ++i) all = merge(chain, all, segment(bounds[i - 1], bounds[i]));
    return all;
  }

  /// The least with any choice of the node that is carried.
  int carry(bool is_first) {
    const std::size_t node = *next_.carried_node();
    Table found{0, next_.size() - 1, {}};
    for (std::size_t choice = 0; choice < costs_.nodes[node].size(); ++choice) {
      const CostTables tables = with_choice(costs_, node, choice);
      LayerSearch search(tables);
      const Costs& costs = search.layer(is_first);
      relaxations_ += search.relaxations();
      if (choice == 0) found.costs = Costs(costs.rows, costs.columns, unreachable);
      for (std::size_t i = 0; i < costs.values.size(); ++i)
        found.costs.values[i] = std::min(found.costs.values[i], costs.values[i]);
    }
    return add(std::move(found));
  }

  Choice trace_carried(std::size_t node, double cost, bool is_first, std::size_t before, std::size_t last) {
    for (std::size_t choice = 0; choice < costs_.nodes[node].size(); ++choice) {
      const CostTables tables = with_choice(costs_, node, choice);
      LayerSearch search(tables);
      if (search.layer(is_first).at(before, last) != cost) continue;
      Choice found = search.trace(is_first, before, last);
      found[node] = choice;
      return found;
    }
    throw InternalError("no choice of an operator that is carried has the cost that the search found");
  }

  /// One that begins behind the layer's first operator is the same in all layers.
  int segment(std::size_t first, std::size_t last) {
    const auto known = segments_.find(first);
    if (known != segments_.end()) return known->second;
    return segments_[first] = make_segment(next_, first, last);
  }

  int make_segment(const Chain& chain, std::size_t first, std::size_t last) {
    int found = -1;
    for (std::size_t place = first; place < last; ++place) {
      const int next = step(chain, place);
      found = place == first ? next : merge(chain, found, next);
    }
    return found;
  }

  /// Two places that follow each other.
  int step(const Chain& chain, std::size_t place) {
    const std::vector<double>&before = chain.own(place), &after = chain.own(place + 1);
    const TimeMatrix* edge = chain.edge(place, place + 1);
    Table found{place, place + 1, Costs(before.size(), after.size(), 0)};
    for (std::size_t i = 0; i < before.size(); ++i) {
      for (std::size_t j = 0; j < after.size(); ++j)
        found.costs.at(i, j) = before[i] + (edge != nullptr ? static_cast<double>(edge->at(i, j)) : 0.0) + after[j];
    }
    return add(std::move(found));
  }

  /// Over the place that they share; what goes from the first to the last place joins.
  int merge(const Chain& chain, int left, int right) {
    const Table &a = table(left), &b = table(right);
    Table found{a.first, b.last, min_plus(a.costs, chain.own(b.first), b.costs), left, right};
    relaxations_ += static_cast<std::int64_t>(a.costs.rows * b.costs.rows * b.costs.columns);
    if (const TimeMatrix* edge = chain.edge(found.first, found.last)) {
      for (std::size_t i = 0; i < found.costs.values.size(); ++i)
        found.costs.values[i] += static_cast<double>(edge->times[i]);
    }
    return add(std::move(found));
  }

  void trace(const Chain& chain, int index, std::size_t first, std::size_t last, Choice& places) const {
    const Table& at = table(index);
    places[at.first] = first;
    places[at.last] = last;
    if (at.left < 0) return;
    const Table &a = table(at.left), &b = table(at.right);
    const std::size_t middle = least_through(a.costs, chain.own(b.first), b.costs, first, last);
    trace(chain, at.left, first, middle, places);
    trace(chain, at.right, middle, last, places);
  }

  const CostTables& costs_;
  Chain first_, next_;
  std::vector<Table> tables_;
  std::map<std::size_t, int> segments_;  // by first place
  int first_layer_ = -1, next_layer_ = -1;
  std::int64_t relaxations_ = 0;
};

std::size_t least_of(const Costs& row) {
  return static_cast<std::size_t>(std::min_element(row.values.begin(), row.values.end()) - row.values.begin());
}

}  // namespace

Found segmented_search(const CostTables& tables, std::int64_t layers) {
  LayerSearch search(tables);
  // By layer: what it and all before it cost at the least, by the choice of its last operator, which counts in the
  // next layer no more.
  std::vector<Costs> sums{search.layer(true)};
  const std::vector<double> nothing(sums.front().columns, 0.0);
  Found found;
  for (std::int64_t layer = 1; layer < layers; ++layer) {
    const Costs& next = search.layer(false);
    sums.push_back(min_plus(sums.back(), nothing, next));
    found.relaxations += static_cast<std::int64_t>(next.values.size());
  }
  std::size_t last = least_of(sums.back());
  found.cost = static_cast<Time>(sums.back().at(0, last));
  found.layers.resize(sums.size());
  for (std::size_t layer = sums.size(); layer-- > 1;) {
    const std::size_t before = least_through(sums[layer - 1], nothing, search.layer(false), 0, last);
    found.layers[layer] = search.trace(false, before, last);
    last = before;
  }
  found.layers[0] = search.trace(true, 0, last);
  found.relaxations += search.relaxations();
  if (total_cost(tables, found.layers) != found.cost)
    throw InternalError("the cost of a plan is not that of its choices");
  return found;
}

Found exhaustive_search(const CostTables& tables, std::int64_t layers) {
  const Choice first(tables.nodes.size(), 0);
  std::vector<Choice> chosen(static_cast<std::size_t>(layers), first);
  Found found{chosen, std::numeric_limits<Time>::max(), 0};
  for (bool more = true; more;) {
    const Time cost = total_cost(tables, chosen);
    ++found.relaxations;
    if (cost < found.cost) {
      found.cost = cost;
      found.layers = chosen;
    }
    more = false;  // the next one, the last node of the last layer fastest
    for (std::size_t layer = chosen.size(); layer-- > 0 && !more;) {
      for (std::size_t i = first.size(); i-- > 0 && !more;) {
        more = ++chosen[layer][i] < tables.nodes[i].size();
        if (!more) chosen[layer][i] = 0;
      }
    }
  }
  return found;
}

}  // namespace tessera::strategy::primepar
