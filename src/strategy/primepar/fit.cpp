// The fastest plan that fits into memory, as far as a price on bytes finds it.
#include <algorithm>
#include <utility>

#include "search.hpp"

namespace tessera::strategy::primepar {
namespace {

constexpr std::int64_t price_unit = 1 << 20;             // B
constexpr std::int64_t highest = std::int64_t{1} << 28;  // ps a MiB: 268 us, more than any link takes for one

using Fits = std::function<bool(const Found&)>;

/// One search with bytes at a price, in ps a MiB.
class PricedSearch {
 public:
  PricedSearch(CostTables& tables, std::int64_t layers) : tables_(tables), latencies_(tables.nodes), layers_(layers) {}

  Found at(std::int64_t price) {
    for (std::size_t i = 0; i < latencies_.size(); ++i) {
      for (std::size_t choice = 0; choice < latencies_[i].size(); ++choice) {
        tables_.nodes[i][choice] = latencies_[i][choice] + price * (priced(i, choice) / price_unit);
      }
    }
    if (lean_) forbid_buffers(tables_);
    Found found = overlapped_search(tables_, layers_);
    tables_.nodes = latencies_;
    found.cost = total_cost(tables_, found.layers) + exposed_sums(tables_, found.layers);
    relaxations_ += found.relaxations;
    found.relaxations = relaxations_;
    return found;
  }

  /// From here on with as few second buffers as an operator can have.
  void be_lean() { lean_ = true; }

  /// What is priced of a plan, in MiB.
  [[nodiscard]] std::int64_t held(const Found& found) const {
    std::int64_t sum = 0;
    for (const Choice& layer : found.layers) {
      for (std::size_t i = 0; i < layer.size(); ++i) sum += priced(i, layer[i]) / price_unit;
    }
    return sum;
  }

 private:
  /// All layers use the same second buffers, one operator after the other.
  [[nodiscard]] std::int64_t priced(std::size_t node, std::size_t choice) const {
    return tables_.bytes[node][choice] + tables_.buffers[node][choice] / layers_;
  }

  CostTables& tables_;
  std::vector<std::vector<Time>> latencies_;
  std::int64_t layers_;
  bool lean_ = false;
  std::int64_t relaxations_ = 0;
};

/// Between a plan that fits and a faster one that does not, `fast`, the price at which both cost the same finds one
/// that beats both at that price, or none is between them. Where nothing fits, what holds the least.
Found at_least_price(PricedSearch& search, Found fast, const Fits& fits) {
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

}  // namespace

// What is priced is a sum, and second buffers are not: the fullest operator's count. So plans without them are searched
// as well.
Found search_that_fits(CostTables& tables, std::int64_t layers, const Fits& fits) {
  PricedSearch search(tables, layers);
  Found fast = search.at(0);
  if (fits(fast)) return fast;
  Found found = at_least_price(search, std::move(fast), fits);
  const bool fit = fits(found);
  search.be_lean();
  Found lean = search.at(0);
  if (fit && lean.cost >= found.cost) return found;
  if (!fits(lean)) lean = at_least_price(search, std::move(lean), fits);
  return fit && (lean.cost >= found.cost || !fits(lean)) ? found : lean;
}

}  // namespace tessera::strategy::primepar
