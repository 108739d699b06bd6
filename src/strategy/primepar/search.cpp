#include "search.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "tessera/base/error.hpp"

namespace tessera::strategy::primepar {
namespace {

constexpr Time unreachable = std::numeric_limits<Time>::max() / 4;

/// Costs of all between two places of the chain, by their choices, and what the choices between them are.
struct Table {
  std::size_t first = 0, last = 0;  ///< places
  TimeMatrix costs;
  std::vector<std::uint32_t> middle;  ///< by both choices: that of `between`
  std::size_t between = 0;            ///< place
  int left = -1, right = -1;          ///< tables that it was made of; none: a single place, or an edge
};

/// The chain of a layer's operators. Where layers follow each other the first place is the last operator of the layer
/// before, with the same choices and no cost of its own.
class Chain {
 public:
  explicit Chain(const CostTables& tables) : tables_(tables) {
    const auto nodes = static_cast<int>(tables.nodes.size());
    const bool repeats = std::any_of(tables.edges.begin(), tables.edges.end(),
                                     [](const CostTables::Edge& edge) { return edge.to_next_layer; });
    if (repeats) places_.push_back(nodes - 1);
    offset_ = places_.size();
    for (int node = 0; node < nodes; ++node) places_.push_back(node);
    for (const CostTables::Edge& edge : tables.edges) {
      if (edge.to_next_layer && edge.from != nodes - 1)
        throw InternalError("another operator than the last one of a layer is read by the next layer");
    }
  }

  [[nodiscard]] std::size_t size() const { return places_.size(); }
  [[nodiscard]] bool repeats() const { return offset_ > 0; }
  [[nodiscard]] std::size_t offset() const { return offset_; }
  [[nodiscard]] std::size_t choices(std::size_t place) const { return nodes(place).size(); }
  /// The node's own cost; that of the layer before counts there.
  [[nodiscard]] Time own(std::size_t place, std::size_t choice) const {
    return place < offset_ ? 0 : nodes(place)[choice];
  }
  /// Null where there is none.
  [[nodiscard]] const TimeMatrix* edge(std::size_t from, std::size_t to) const {
    for (const CostTables::Edge& edge : tables_.edges) {
      if (source(edge) == from && target(edge) == to) return &edge.times;
    }
    return nullptr;
  }
  /// Places where segments begin, and the last one.
  [[nodiscard]] std::vector<std::size_t> bounds() const {
    std::vector<std::size_t> found{0};
    for (std::size_t place = 1; place + 1 < size(); ++place) {
      const bool is_read_later = std::any_of(tables_.edges.begin(), tables_.edges.end(), [&](const auto& edge) {
        return source(edge) == place && target(edge) > place + 1;
      });
      if (is_read_later) found.push_back(place);
    }
    if (size() > 1) found.push_back(size() - 1);
    return found;
  }
  /// Edges that start behind `first` and before `last`, and end behind it, get lost in a merger.
  void check_merger(std::size_t first, std::size_t last) const {
    for (const CostTables::Edge& edge : tables_.edges) {
      if (source(edge) > first && source(edge) < last && target(edge) > last)
        throw InternalError("an operator in the midst of merged segments is still read behind them");
    }
  }

 private:
  [[nodiscard]] const std::vector<Time>& nodes(std::size_t place) const {
    return tables_.nodes[static_cast<std::size_t>(places_[place])];
  }
  [[nodiscard]] std::size_t source(const CostTables::Edge& edge) const {
    return edge.to_next_layer ? 0 : static_cast<std::size_t>(edge.from) + offset_;
  }
  [[nodiscard]] std::size_t target(const CostTables::Edge& edge) const {
    return static_cast<std::size_t>(edge.to) + offset_;
  }

  const CostTables& tables_;
  std::vector<int> places_;  // nodes
  std::size_t offset_ = 0;
};

class Search {
 public:
  explicit Search(const CostTables& tables) : costs_(tables), chain_(tables) {}

  Found run() {
    int all = single(0);
    const std::vector<std::size_t> bounds = chain_.bounds();
    for (std::size_t i = 1; i < bounds.size(); ++i) {
      const int segment = make_segment(bounds[i - 1], bounds[i]);
      all = i == 1 ? segment : merge(all, segment);
    }
    return best_of(all);
  }

 private:
  [[nodiscard]] const Table& table(int index) const { return tables_[static_cast<std::size_t>(index)]; }

  int add(Table table) {
    tables_.push_back(std::move(table));
    return static_cast<int>(tables_.size()) - 1;
  }

  /// A place alone: only equal choices go together.
  int single(std::size_t place) {
    Table found{place, place, {chain_.choices(place), chain_.choices(place), {}}, {}, place};
    found.costs.times.assign(found.costs.rows * found.costs.columns, unreachable);
    for (std::size_t i = 0; i < found.costs.rows; ++i)
      found.costs.times[i * found.costs.columns + i] = chain_.own(place, i);
    return add(std::move(found));
  }

  int make_segment(std::size_t first, std::size_t last) {
    int found = -1;
    for (std::size_t place = first; place < last; ++place) {
      const int next = step(place);
      found = place == first ? next : merge(found, next);
    }
    return found;
  }

  /// Two places that follow each other.
  int step(std::size_t place) {
    Table found{place, place + 1, {chain_.choices(place), chain_.choices(place + 1), {}}, {}, place};
    const TimeMatrix* edge = chain_.edge(place, place + 1);
    for (std::size_t a = 0; a < found.costs.rows; ++a) {
      for (std::size_t b = 0; b < found.costs.columns; ++b)
        found.costs.times.push_back(chain_.own(place, a) + (edge != nullptr ? edge->at(a, b) : 0) +
                                    chain_.own(place + 1, b));
    }
    return add(std::move(found));
  }

  /// Over the place that they share; what goes from the first to the last place joins.
  int merge(int left, int right) {
    const Table &a = table(left), &b = table(right);
    chain_.check_merger(a.first, b.last);
    const std::size_t rows = a.costs.rows, middle = b.costs.rows, columns = b.costs.columns;
    Table found{a.first, b.last, {rows, columns, {}}, {}, b.first, left, right};
    found.costs.times.assign(rows * columns, unreachable);
    found.middle.assign(rows * columns, 0);
    for (std::size_t i = 0; i < rows; ++i) {
      Time* best = &found.costs.times[i * columns];
      std::uint32_t* through = &found.middle[i * columns];
      for (std::size_t k = 0; k < middle; ++k) {
        const Time before = a.costs.at(i, k) - chain_.own(b.first, k);
        const Time* after = &b.costs.times[k * columns];
        for (std::size_t j = 0; j < columns; ++j) {
          const Time sum = before + after[j];
          through[j] = sum < best[j] ? static_cast<std::uint32_t>(k) : through[j];
          best[j] = std::min(best[j], sum);
        }
      }
    }
    relaxations_ += static_cast<std::int64_t>(rows * middle * columns);
    if (const TimeMatrix* edge = skipping(found)) {
      for (std::size_t i = 0; i < found.costs.times.size(); ++i) found.costs.times[i] += edge->times[i];
    }
    return add(std::move(found));
  }

  [[nodiscard]] const TimeMatrix* skipping(const Table& merged) const {
    return merged.last > merged.first + 1 ? chain_.edge(merged.first, merged.last) : nullptr;
  }

  /// Layers follow each other, all cut alike: what the last operator leaves is what the next layer begins with.
  Found best_of(int whole) {
    const Table& all = table(whole);
    std::size_t first = 0, last = 0;
    Time best = unreachable;
    for (std::size_t i = 0; i < all.costs.rows; ++i) {
      for (std::size_t j = 0; j < all.costs.columns; ++j) {
        if ((chain_.repeats() && i != j) || all.costs.at(i, j) >= best) continue;
        best = all.costs.at(i, j);
        first = i;
        last = j;
      }
    }
    std::vector<std::size_t> places(chain_.size(), 0);
    trace(whole, first, last, places);
    Found found{{places.begin() + static_cast<std::ptrdiff_t>(chain_.offset()), places.end()}, best, relaxations_};
    if (total_cost(costs_, found.chosen) != best) throw InternalError("the cost of a plan is not that of its choices");
    return found;
  }

  void trace(int index, std::size_t first, std::size_t last, std::vector<std::size_t>& places) const {
    const Table& at = table(index);
    places[at.first] = first;
    places[at.last] = last;
    if (at.left < 0) return;
    const std::size_t middle = at.middle[first * at.costs.columns + last];
    trace(at.left, first, middle, places);
    trace(at.right, middle, last, places);
  }

  const CostTables& costs_;
  Chain chain_;
  std::vector<Table> tables_;
  std::int64_t relaxations_ = 0;
};

}  // namespace

Found segmented_search(const CostTables& tables) { return Search(tables).run(); }

namespace {

/// One search with bytes at that price, in ps a MiB.
class PricedSearch {
 public:
  explicit PricedSearch(CostTables& tables) : tables_(tables), latencies_(tables.nodes) {}

  Found at(std::int64_t price) {
    constexpr std::int64_t unit = 1 << 20;
    for (std::size_t i = 0; i < latencies_.size(); ++i) {
      for (std::size_t choice = 0; choice < latencies_[i].size(); ++choice)
        tables_.nodes[i][choice] = latencies_[i][choice] + price * (tables_.bytes[i][choice] / unit);
    }
    Found found = segmented_search(tables_);
    tables_.nodes = latencies_;
    found.cost = total_cost(tables_, found.chosen);
    relaxations_ += found.relaxations;
    found.relaxations = relaxations_;
    return found;
  }

 private:
  CostTables& tables_;
  std::vector<std::vector<Time>> latencies_;
  std::int64_t relaxations_ = 0;
};

}  // namespace

Found search_that_fits(CostTables tables, const std::function<bool(const Found&)>& fits) {
  constexpr std::int64_t highest = std::int64_t{1} << 40;  // ps a MiB: a second
  PricedSearch search(tables);
  Found best = search.at(0);
  if (fits(best)) return best;
  std::int64_t low = 0, high = 1;
  for (best = search.at(high); !fits(best); best = search.at(high)) {
    if (high == highest) return best;
    low = high;
    high *= 2;
  }
  while (high - low > std::max<std::int64_t>(1, high / 100)) {
    const std::int64_t middle = low + (high - low) / 2;
    Found found = search.at(middle);
    if (fits(found)) {
      best = std::move(found);
      high = middle;
    } else {
      low = middle;
    }
  }
  return best;
}

Found exhaustive_search(const CostTables& tables) {
  Found found{std::vector<std::size_t>(tables.nodes.size(), 0), unreachable, 0};
  std::vector<std::size_t> chosen = found.chosen;
  for (bool more = true; more;) {
    const Time cost = total_cost(tables, chosen);
    ++found.relaxations;
    if (cost < found.cost) {
      found.cost = cost;
      found.chosen = chosen;
    }
    more = false;  // the next one, the last node fastest
    for (std::size_t i = chosen.size(); i-- > 0 && !more;) {
      more = ++chosen[i] < tables.nodes[i].size();
      if (!more) chosen[i] = 0;
    }
  }
  return found;
}

}  // namespace tessera::strategy::primepar
