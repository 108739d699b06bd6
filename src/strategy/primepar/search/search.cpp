#include "search.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "chain.hpp"
#include "narrow.hpp"
#include "tessera/base/error.hpp"
#include "unbeaten.hpp"

namespace tessera::strategy::primepar {
namespace {

constexpr double unreachable = std::numeric_limits<double>::infinity();

/// The first of the least.
std::size_t least_of(const std::vector<double>& values) {
  return static_cast<std::size_t>(std::min_element(values.begin(), values.end()) - values.begin());
}

/// What everything from one place to another costs at the least, by the choices there.
struct LeastTable {
  std::size_t first = 0, last = 0;  ///< places
  Costs costs;
};

/// One layer, as the first or behind another.
class LayerSearch {
 public:
  explicit LayerSearch(const CostTables& tables) : costs_(tables), first_(tables, true), next_(tables, false) {}

  /// By the choice of the last operator before (one, of nobody, before the first layer) and of the layer's last one.
  const Costs& layer(bool is_first) {
    int& known = is_first ? first_layer_ : next_layer_;
    if (known < 0) known = next_.carried_node() ? carry(is_first) : make_layer(is_first);
    return table(known).costs;
  }

  /// What a layer and what follows it cost at the least, by the choice of the last operator before; `after`: what
  /// follows it, by that of its last one.
  std::vector<double> with_layer(bool is_first, const std::vector<double>& after) {
    if (next_.carried_node()) return min_plus(layer(is_first), after);
    const std::vector<int>& all = parts(is_first);
    std::vector<double> found = after;
    for (std::size_t i = all.size(); i-- > 0;) {
      const LeastTable& part = table(all[i]);
      found = min_plus(part.costs, found);
      relaxations_ += static_cast<std::int64_t>(part.costs.values.size());
      if (i > 0) count_once(next_.own(part.first), found);
    }
    return found;
  }

  /// Of the choices of one layer that cost the least with what follows, by the choice of its last operator, the first.
  Choice first_of_least(bool is_first, std::size_t before, const std::vector<double>& after) {
    if (const auto node = next_.carried_node()) return first_of_carried(*node, is_first, before, after);
    const Chain& chain = is_first ? first_ : next_;
    const std::vector<std::size_t>& bounds = chain.bounds();
    std::vector<std::vector<double>> behind(bounds.size());  // what follows a bound, by the choice there
    behind.back() = after;
    for (std::size_t i = bounds.size() - 1; i > 1; --i) {
      add_edge(chain.edge(0, bounds[i]), before, behind[i]);
      behind[i - 1] = min_plus(table(segment(bounds[i - 1], bounds[i])).costs, behind[i]);
      count_once(chain.own(bounds[i - 1]), behind[i - 1]);
    }
    Choice found;
    for (std::size_t i = 1; i < bounds.size(); ++i)
      first_of_segment(chain, bounds[i - 1], i == 1 ? before : found.back(), bounds[i], behind[i], found);
    return found;
  }

  [[nodiscard]] std::int64_t relaxations() const { return relaxations_; }

 private:
  [[nodiscard]] const LeastTable& table(int index) const { return tables_[static_cast<std::size_t>(index)]; }

  int add(LeastTable table) {
    tables_.push_back(std::move(table));
    return static_cast<int>(tables_.size()) - 1;
  }

  int make_layer(bool is_first) {
    const std::vector<int>& all = parts(is_first);
    int found = all.front();
    for (std::size_t i = 1; i < all.size(); ++i) found = merge(is_first ? first_ : next_, found, all[i]);
    return found;
  }

  /// What a layer's cost is the sum of, over the places that two of them share: all that reads the layer before, and
  /// the segments behind it.
  const std::vector<int>& parts(bool is_first) {
    std::vector<int>& found = is_first ? first_parts_ : next_parts_;
    if (!found.empty()) return found;
    const Chain& chain = is_first ? first_ : next_;
    const std::vector<std::size_t>& bounds = chain.bounds();
    std::size_t read = 1;  // the last of the bounds that reads the layer before
    for (std::size_t i = 2; i < bounds.size(); ++i) read = chain.edge(0, bounds[i]) != nullptr ? i : read;
    found.push_back(make_segment(chain, bounds[0], bounds[1]));
    for (std::size_t i = 2; i < bounds.size(); ++i) {
      const int next = segment(bounds[i - 1], bounds[i]);
      if (i <= read)
        found.back() = merge(chain, found.back(), next);
      else
        found.push_back(next);
    }
    return found;
  }

  /// The least with any choice of the node that is carried.
  int carry(bool is_first) {
    const std::size_t node = *next_.carried_node();
    LeastTable found{0, next_.size() - 1, {}};
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

  Choice first_of_carried(std::size_t node, bool is_first, std::size_t before, const std::vector<double>& after) {
    Choice first;
    double least = unreachable;
    for (std::size_t choice = 0; choice < costs_.nodes[node].size(); ++choice) {
      const CostTables tables = with_choice(costs_, node, choice);
      LayerSearch search(tables);
      const double cost = search.with_layer(is_first, after)[before];
      if (cost > least) continue;
      Choice found = search.first_of_least(is_first, before, after);
      found[node] = choice;
      if (cost < least || found < first) first = std::move(found);
      least = cost;
    }
    return first;
  }

  static void count_once(const std::vector<double>& twice, std::vector<double>& costs) {
    for (std::size_t i = 0; i < costs.size(); ++i) costs[i] -= twice[i];
  }

  static void add_edge(const TimeMatrix* edge, std::size_t row, std::vector<double>& costs) {
    for (std::size_t i = 0; edge != nullptr && i < costs.size(); ++i) costs[i] += static_cast<double>(edge->at(row, i));
  }

  /// Appends the choices of a segment's places but for the one that it begins with, whose choice is given.
  static void first_of_segment(const Chain& chain, std::size_t begin, std::size_t chosen, std::size_t end,
                               const std::vector<double>& behind, Choice& found) {
    std::vector<std::vector<double>> costs(end + 1);  // by place: its own, its edge from the first one, what follows it
    for (std::size_t place = end; place > begin; --place) {
      costs[place] = chain.own(place);
      add_edge(chain.edge(begin, place), chosen, costs[place]);
      const std::vector<double> next = place == end ? behind : behind_place(chain, place, costs[place + 1]);
      std::transform(next.begin(), next.end(), costs[place].begin(), costs[place].begin(), std::plus<>());
    }
    for (std::size_t place = begin + 1; place <= end; ++place) {
      if (place > begin + 1) add_edge(chain.edge(place - 1, place), found.back(), costs[place]);
      found.push_back(least_of(costs[place]));
    }
  }

  /// What follows a place, by its choice, from what follows the next one and that costs itself.
  static std::vector<double> behind_place(const Chain& chain, std::size_t place, const std::vector<double>& next) {
    const TimeMatrix* edge = chain.edge(place, place + 1);
    if (edge == nullptr) return std::vector<double>(chain.choices(place), *std::min_element(next.begin(), next.end()));
    std::vector<double> found(edge->rows, unreachable);
    for (std::size_t i = 0; i < edge->rows; ++i) {
      const Time* row = &edge->times[i * edge->columns];
      for (std::size_t k = 0; k < edge->columns; ++k)
        found[i] = std::min(found[i], static_cast<double>(row[k]) + next[k]);
    }
    return found;
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
    LeastTable found{place, place + 1, Costs(before.size(), after.size(), 0)};
    for (std::size_t i = 0; i < before.size(); ++i) {
      for (std::size_t j = 0; j < after.size(); ++j)
        found.costs.at(i, j) = before[i] + (edge != nullptr ? static_cast<double>(edge->at(i, j)) : 0.0) + after[j];
    }
    return add(std::move(found));
  }

  /// Over the place that they share; what goes from the first to the last place joins.
  int merge(const Chain& chain, int left, int right) {
    const LeastTable &a = table(left), &b = table(right);
    LeastTable found{a.first, b.last, min_plus(a.costs, chain.own(b.first), b.costs)};
    relaxations_ += static_cast<std::int64_t>(a.costs.rows * b.costs.rows * b.costs.columns);
    if (const TimeMatrix* edge = chain.edge(found.first, found.last)) {
      for (std::size_t i = 0; i < found.costs.values.size(); ++i)
        found.costs.values[i] += static_cast<double>(edge->times[i]);
    }
    return add(std::move(found));
  }

  const CostTables& costs_;
  Chain first_, next_;
  std::deque<LeastTable> tables_;        // which stay where they are
  std::map<std::size_t, int> segments_;  // by first place
  std::vector<int> first_parts_, next_parts_;
  int first_layer_ = -1, next_layer_ = -1;
  std::int64_t relaxations_ = 0;
};

/// All by as much.
bool differ_by_one(const std::vector<double>& a, const std::vector<double>& b) {
  const double by = a.front() - b.front();
  return std::equal(a.begin(), a.end(), b.begin(), [&](double one, double other) { return one - other == by; });
}

/// Of the plans that cost the least, the first. `start`: the choice of the operator before the first layer, none:
/// nobody is there. `end`: what follows the last layer costs so much, by the choice of its last operator.
Found first_layers(LayerSearch& search, std::size_t layers, std::optional<std::size_t> start, std::vector<double> end) {
  // By layer: what those behind it cost at the least, by the choice of its last operator.
  std::vector<std::vector<double>> after(layers);
  after.back() = std::move(end);
  Found found;
  for (std::size_t layer = layers - 1; layer-- > 0;) after[layer] = search.with_layer(false, after[layer + 1]);
  found.cost = static_cast<Time>(search.with_layer(!start, after.front())[start.value_or(0)]);
  for (std::size_t layer = 0; layer < layers; ++layer) {
    const std::size_t before = layer == 0 ? start.value_or(0) : found.layers.back().back();
    // Where no more follows than in the layer before, but for what all choices share, the same is chosen.
    const bool is_again =
        layer > 1 && before == found.layers[layer - 2].back() && differ_by_one(after[layer - 1], after[layer]);
    found.layers.push_back(is_again ? found.layers.back()
                                    : search.first_of_least(layer == 0 && !start, before, after[layer]));
  }
  return found;
}

/// What is chosen for the last operator of a stage is what stands before the next one's first layer.
Found first_in_stages(LayerSearch& search, std::size_t layers, const std::vector<Time>& handover) {
  Costs all = search.layer(false);
  const std::vector<double> nothing(all.columns, 0.0);
  std::int64_t relaxations = 0;
  for (std::size_t layer = 1; layer < layers; ++layer) {
    all = min_plus(all, nothing, search.layer(false));
    relaxations += static_cast<std::int64_t>(all.rows * all.columns * all.columns);
  }
  std::vector<double> closed(all.rows);
  for (std::size_t i = 0; i < all.rows; ++i) closed[i] = all.at(i, i) + static_cast<double>(handover[i]);
  const double least = closed[least_of(closed)];
  Found first;
  for (std::size_t i = 0; i < closed.size(); ++i) {
    if (closed[i] != least) continue;
    std::vector<double> end(all.columns, unreachable);
    end[i] = static_cast<double>(handover[i]);
    Found found = first_layers(search, layers, i, std::move(end));
    relaxations += found.relaxations;
    if (first.layers.empty() || found.layers < first.layers) first = std::move(found);
  }
  first.relaxations = relaxations;
  return first;
}

}  // namespace

Found segmented_search(const CostTables& tables, std::int64_t layers) {
  const Narrowed left = only(tables, unbeaten(tables));
  Found found = search_of_all(left.tables, layers);
  found.layers = left.widened(found.layers);
  for (std::size_t node = 0; node < left.kept.size(); ++node)
    found.struck_out += static_cast<std::int64_t>(tables.nodes[node].size() - left.kept[node].size());
  return found;
}

Found search_of_all(const CostTables& tables, std::int64_t layers) {
  LayerSearch search(tables);
  const auto count = static_cast<std::size_t>(layers);
  const std::vector<double> nothing(tables.nodes.back().size(), 0.0);
  Found found = tables.handover.empty() ? first_layers(search, count, std::nullopt, nothing)
                                        : first_in_stages(search, count, tables.handover);
  found.relaxations += search.relaxations();
  const Time cost = total_cost(tables, found.layers);
  if (std::abs(cost - found.cost) > cost >> 40)  // beyond 2^53 ps sums are rounded
    throw InternalError("the cost of a plan is not that of its choices");
  found.cost = cost;
  return found;
}

bool forbid_buffers(CostTables& tables) {
  bool any = false;
  for (std::size_t i = 0; i < tables.nodes.size(); ++i) {
    std::vector<Time>& costs = tables.nodes[i];
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (std::size_t choice = 0; choice < costs.size(); ++choice) {
      if (costs[choice] < too_much) least = std::min(least, tables.bytes[i][choice].buffers);
    }
    for (std::size_t choice = 0; choice < costs.size(); ++choice) {
      if (costs[choice] >= too_much || tables.bytes[i][choice].buffers <= least) continue;
      costs[choice] += too_much;
      any = true;
    }
  }
  return any;
}

}  // namespace tessera::strategy::primepar
