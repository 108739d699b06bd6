// The fastest plan that fits into memory, as far as a price on bytes finds it.
#include <algorithm>
#include <utility>

#include "search.hpp"

namespace tessera::strategy::primepar {
namespace {

constexpr std::int64_t price_unit = 1 << 20;  // B

/// One search with bytes at a price, in ps a MiB.
class PricedSearch {
 public:
  PricedSearch(CostTables& tables, std::int64_t layers) : tables_(tables), latencies_(tables.nodes), layers_(layers) {}

  Found at(std::int64_t price) {
    for (std::size_t i = 0; i < latencies_.size(); ++i) {
      for (std::size_t choice = 0; choice < latencies_[i].size(); ++choice)
        tables_.nodes[i][choice] = latencies_[i][choice] + price * (tables_.bytes[i][choice] / price_unit);
    }
    Found found = segmented_search(tables_, layers_);
    tables_.nodes = latencies_;
    found.cost = total_cost(tables_, found.layers);
    relaxations_ += found.relaxations;
    found.relaxations = relaxations_;
    return found;
  }

  /// What is priced of a plan, in MiB.
  [[nodiscard]] std::int64_t held(const Found& found) const {
    std::int64_t sum = 0;
    for (const Choice& layer : found.layers) {
      for (std::size_t i = 0; i < layer.size(); ++i) sum += tables_.bytes[i][layer[i]] / price_unit;
    }
    return sum;
  }

 private:
  CostTables& tables_;
  std::vector<std::vector<Time>> latencies_;
  std::int64_t layers_;
  std::int64_t relaxations_ = 0;
};

}  // namespace

// Between a plan that fits and a faster one that does not, the price at which both cost the same finds one that beats
// both at that price, or none is between them.
Found search_that_fits(CostTables& tables, std::int64_t layers, const std::function<bool(const Found&)>& fits) {
  constexpr std::int64_t highest = std::int64_t{1} << 28;  // ps a MiB: 268 us, more than any link takes for one
  PricedSearch search(tables, layers);
  Found fast = search.at(0);
  if (fits(fast)) return fast;
  Found small = search.at(highest);
  if (!fits(small)) return small;
  for (std::int64_t price = 0;;) {
    const std::int64_t more = search.held(fast) - search.held(small);
    const std::int64_t next = more <= 0 ? price : (small.cost - fast.cost + more - 1) / more;
    if (next == price) return small;
    price = next;
    Found middle = search.at(price);
    const auto worth = [&](const Found& found) { return found.cost + price * search.held(found); };
    if (worth(middle) >= worth(small)) return small;
    (fits(middle) ? small : fast) = std::move(middle);
  }
}

}  // namespace tessera::strategy::primepar
