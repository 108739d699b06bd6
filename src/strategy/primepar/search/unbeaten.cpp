#include "unbeaten.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "cost_loops.hpp"
#include "min_plus.hpp"

namespace tessera::strategy::primepar {
namespace {

// A node is judged again when that part of its neighbours' choices has gone.
constexpr std::size_t gone_to_judge_again = 8;

using Memory = std::vector<std::vector<double>>;

/// What one node redistributes to or from another one, by the choices that both have left.
struct Neighbour {
  Costs costs;                                                   ///< a row for each choice of the node itself, as left
  bool may_be_absent = false;                                    ///< before the first layer or behind the last one
  std::vector<double> least, most;                               ///< of each row
  std::vector<double> difference;                                ///< see Duel::foresee()
  std::unordered_map<std::size_t, std::vector<double>> columns;  ///< of `costs`, those that were asked for
};

/// One node's choices that are left, judged against each other. Numbers of choices are their places among all in the
/// order of what they cost on average: nobody beats another one whose mean is lower.
class Duel {
 public:
  /// `memory`: that other nodes had, to be used again; gigabytes of fresh memory take seconds.
  Duel(const CostTables& tables, const std::vector<Choice>& left, std::size_t node, Memory& memory)
      : own_(left[node]), loops_(cost_loops()), memory_(memory) {
    for (const std::size_t choice : own_) {
      costs_.push_back(tables.nodes[node][choice]);
      means_.push_back(static_cast<double>(costs_.back()));
      handover_.push_back(node + 1 == left.size() && !tables.handover.empty() ? tables.handover[choice] : 0);
    }
    for (const CostTables::Edge& edge : tables.edges) {
      const auto from = static_cast<std::size_t>(edge.from), to = static_cast<std::size_t>(edge.to);
      const bool may_be_absent = edge.to_next_layer && tables.handover.empty();
      if (from == node) add(rows_of(edge.times, own_, left[to]), may_be_absent);
      if (to == node) add(columns_of(edge.times, left[from], own_), may_be_absent);
    }
    sort();
  }
  Duel(const Duel&) = delete;
  Duel& operator=(const Duel&) = delete;
  ~Duel() {
    for (Neighbour& one : neighbours_) memory_.push_back(std::move(one.costs.values));
  }

  /// The dearest are tried first, by those that cost the least.
  Choice unbeaten() {
    Choice left;
    for (std::size_t other = order_.size(); other-- > 0;) {
      foresee(other);
      bool is_beaten = false;
      for (std::size_t one = 0; one < other && !is_beaten; ++one)
        is_beaten = !is_dearer(more_[one], one, other) && beats(one, other);
      if (!is_beaten) left.push_back(own_[order_[other]]);
    }
    std::ranges::sort(left);
    return left;
  }

 private:
  Costs uninitialized(std::size_t rows, std::size_t columns) {
    Costs found;
    if (!memory_.empty()) {
      const auto largest = std::ranges::max_element(memory_, {}, &std::vector<double>::capacity);
      found.values = std::move(*largest);
      memory_.erase(largest);
    }
    found.rows = rows;
    found.columns = columns;
    found.values.resize(rows * columns);
    return found;
  }

  Costs rows_of(const TimeMatrix& times, const Choice& rows, const Choice& columns) {
    Costs found = uninitialized(rows.size(), columns.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (std::size_t k = 0; k < columns.size(); ++k)
        found.at(i, k) = static_cast<double>(times.at(rows[i], columns[k]));
    }
    return found;
  }

  Costs columns_of(const TimeMatrix& times, const Choice& rows, const Choice& columns) {
    constexpr std::size_t at_once = 8;  // rows, of which a column's part is a line of the cache
    Costs found = uninitialized(columns.size(), rows.size());
    for (std::size_t begin = 0; begin < rows.size(); begin += at_once) {
      const std::size_t end = std::min(begin + at_once, rows.size());
      for (std::size_t i = 0; i < columns.size(); ++i) {
        for (std::size_t k = begin; k < end; ++k) found.at(i, k) = static_cast<double>(times.at(rows[k], columns[i]));
      }
    }
    return found;
  }

  void add(Costs costs, bool may_be_absent) {
    Neighbour& one = neighbours_.emplace_back();
    for (std::size_t i = 0; i < own_.size(); ++i) {
      const double* row = &costs.values[i * costs.columns];
      const auto [least, most] = std::minmax_element(row, row + costs.columns);
      one.least.push_back(*least);
      one.most.push_back(*most);
      means_[i] += std::accumulate(row, row + costs.columns, 0.0) / static_cast<double>(costs.columns);
    }
    one.difference.resize(own_.size());
    one.may_be_absent = may_be_absent;
    one.costs = std::move(costs);
  }

  template <class Values>
  void sort(Values& values) const {
    const Values before = values;
    for (std::size_t i = 0; i < order_.size(); ++i) values[i] = before[order_[i]];
  }

  void sort() {
    order_.resize(own_.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::ranges::stable_sort(order_, {}, [&](std::size_t i) { return means_[i]; });
    sort(costs_);
    sort(handover_);
    for (Neighbour& one : neighbours_) {
      sort(one.least);
      sort(one.most);
    }
  }

  [[nodiscard]] const double* row(const Neighbour& neighbour, std::size_t one) const {
    return &neighbour.costs.values[order_[one] * neighbour.costs.columns];
  }

  /// Whether a choice that costs so much more, whatever the neighbours choose, leaves the other one in its place.
  [[nodiscard]] bool is_dearer(double more, std::size_t one, std::size_t other) const {
    return more > 0 || (more == 0 && order_[one] > order_[other]);
  }

  /// By how much each choice before `other` costs more at the most: no less than `more_`, of which each neighbour's
  /// part is its `difference`.
  void foresee(std::size_t other) {
    more_.resize(own_.size());
    for (std::size_t i = 0; i < other; ++i)
      more_[i] =
          static_cast<double>(costs_[i] - costs_[other]) +
          static_cast<double>(std::max<Time>(0, handover_[i] - handover_[other]));  // behind the last layer alone
    for (Neighbour& one : neighbours_) {
      const double floor = one.may_be_absent ? 0 : -std::numeric_limits<double>::infinity();
      const double least = one.least[other], most = one.most[other];
      for (std::size_t i = 0; i < other; ++i) {
        one.difference[i] = std::max(floor, std::max(one.least[i] - least, one.most[i] - most));
        more_[i] += one.difference[i];
      }
    }
  }

  /// What shows that `one` does not beat `other` is held against all choices.
  bool beats(std::size_t one, std::size_t other) {
    double more = more_[one];
    for (Neighbour& neighbour : neighbours_) {
      const double known = neighbour.difference[one];
      const std::size_t columns = neighbour.costs.columns;
      const double *a = row(neighbour, one), *b = row(neighbour, other);
      const double most = std::max(known, loops_.most_difference(a, b, columns, known - more));
      more += most - known;
      if (!is_dearer(more, one, other)) continue;
      if (most > known) foresee_more(neighbour, other, column_of(a, b, columns, most));
      return false;
    }
    return true;
  }

  static std::size_t column_of(const double* a, const double* b, std::size_t columns, double difference) {
    std::size_t column = 0;
    while (column + 1 < columns && a[column] - b[column] != difference) ++column;
    return column;
  }

  /// From what the neighbour's choice of that column costs.
  void foresee_more(Neighbour& neighbour, std::size_t other, std::size_t column) {
    const auto [costs, is_new] = neighbour.columns.try_emplace(column);
    for (std::size_t i = 0; is_new && i < own_.size(); ++i) costs->second.push_back(row(neighbour, i)[column]);
    const double own = costs->second[other];
    const std::vector<double>& all = costs->second;
    for (std::size_t i = 0; i < other; ++i) {
      const double known = neighbour.difference[i], difference = std::max(known, all[i] - own);
      more_[i] += difference - known;
      neighbour.difference[i] = difference;
    }
  }

  const Choice& own_;
  const CostLoops& loops_;
  Memory& memory_;
  std::vector<std::size_t> order_;      // by choice, its place in `own_`
  std::vector<Time> costs_, handover_;  // by choice, as all below
  std::vector<double> means_;           // of all costs, by place in `own_`
  std::vector<Neighbour> neighbours_;
  std::vector<double> more_;
};

/// Sums of what is beyond it are rounded.
bool are_exact(const CostTables& tables) {
  return std::ranges::all_of(tables.edges, [](const CostTables::Edge& edge) {
    return edge.times.times.empty() || std::ranges::max(edge.times.times) < Time{1} << 50;
  });
}

/// Of all that it redistributes to or from.
std::size_t neighbours_left(const CostTables& tables, const std::vector<Choice>& left, std::size_t node) {
  std::size_t sum = 0;
  for (const CostTables::Edge& edge : tables.edges) {
    const auto from = static_cast<std::size_t>(edge.from), to = static_cast<std::size_t>(edge.to);
    if (from == node) sum += left[to].size();
    if (to == node) sum += left[from].size();
  }
  return sum;
}

}  // namespace

std::vector<Choice> unbeaten(const CostTables& tables) {
  std::vector<Choice> left;
  for (const std::vector<Time>& node : tables.nodes) {
    left.emplace_back(node.size());
    std::iota(left.back().begin(), left.back().end(), std::size_t{0});
  }
  if (!are_exact(tables)) return left;
  std::vector<std::size_t> seen(left.size(), std::numeric_limits<std::size_t>::max());  // by node, neighbours_left()
  Memory memory;
  for (bool any = true; any;) {
    any = false;
    for (std::size_t node = 0; node < left.size(); ++node) {
      const std::size_t neighbours = neighbours_left(tables, left, node);
      const std::size_t gone = seen[node] - neighbours;  // they never come back
      if (gone == 0 || gone < seen[node] / gone_to_judge_again) continue;
      seen[node] = neighbours;
      left[node] = Duel(tables, left, node, memory).unbeaten();
      any = true;
    }
  }
  return left;
}

}  // namespace tessera::strategy::primepar
