// The fastest plan that fits into memory, as far as a price on bytes and what lies beside its plans find it.
#include <algorithm>
#include <limits>
#include <utility>

#include "search.hpp"

namespace tessera::strategy::primepar {
namespace {

constexpr std::int64_t price_unit = 1 << 10;  // B
constexpr Time close_enough = 256;            // as a part of a plan's time

/// Searches with bytes at a price, in ps a KiB.
class PricedSearch {
 public:
  PricedSearch(CostTables& tables, std::int64_t layers) : tables_(tables), latencies_(tables.nodes), layers_(layers) {
    find_least();
  }

  Found at(std::int64_t price) {
    return search([&](std::size_t node, std::size_t choice) {
      const std::int64_t bytes = priced(node, choice) - least_[node];
      return bytes <= 0 ? 0 : std::min(price, too_much / bytes) * bytes;
    });
  }

  /// The fastest of those that hold the least.
  Found least() {
    return search(
        [&](std::size_t node, std::size_t choice) { return priced(node, choice) > least_[node] ? too_much : 0; });
  }

  /// From here on with as few second buffers as an operator can have. False: it is so already.
  bool be_lean() {
    const bool any = forbid_buffers(tables_);
    latencies_ = tables_.nodes;
    find_least();
    seen_.clear();
    return any;
  }

  /// All that have been found since the last be_lean().
  [[nodiscard]] const std::vector<Found>& seen() const { return seen_; }

  /// What is priced of a plan, in KiB.
  [[nodiscard]] std::int64_t held(const Found& found) const {
    std::int64_t sum = 0;
    for (const Choice& layer : found.layers) {
      for (std::size_t i = 0; i < layer.size(); ++i) sum += priced(i, layer[i]);
    }
    return sum;
  }

 private:
  /// All layers use the same second buffers, one operator after the other.
  [[nodiscard]] std::int64_t priced(std::size_t node, std::size_t choice) const {
    const NodeBytes& bytes = tables_.bytes[node][choice];
    return (bytes.held + bytes.again / layers_ + bytes.buffers / layers_) / price_unit;
  }

  /// Of what may be chosen.
  void find_least() {
    least_.assign(latencies_.size(), std::numeric_limits<std::int64_t>::max());
    for (std::size_t i = 0; i < latencies_.size(); ++i) {
      for (std::size_t choice = 0; choice < latencies_[i].size(); ++choice) {
        if (latencies_[i][choice] < too_much) least_[i] = std::min(least_[i], priced(i, choice));
      }
    }
  }

  template <class More>
  Found search(const More& more) {
    for (std::size_t i = 0; i < latencies_.size(); ++i) {
      for (std::size_t choice = 0; choice < latencies_[i].size(); ++choice) {
        Time& cost = tables_.nodes[i][choice];
        if (latencies_[i][choice] < too_much) cost = latencies_[i][choice] + more(i, choice);
      }
    }
    Found found = overlapped_search(tables_, layers_);
    tables_.nodes = latencies_;
    found.cost = total_cost(tables_, found.layers) + exposed_sums(tables_, found.layers);
    relaxations_ += found.relaxations;
    found.relaxations = relaxations_;
    seen_.push_back(found);
    return found;
  }

  CostTables& tables_;
  std::vector<std::vector<Time>> latencies_;
  std::int64_t layers_;
  std::vector<std::int64_t> least_;  // that is priced, by node
  std::vector<Found> seen_;
  std::int64_t relaxations_ = 0;
};

/// Between a plan that fits and a faster one that does not, the price at which both cost the same finds one that beats
/// both at that price, or none is between them that a price finds: then some operators may still be cut as in the
/// faster one. Where nothing fits, the fastest of what holds the least.
Found at_least_price(const CostTables& tables, PricedSearch& search, const Found& fastest, const Capacity& capacity) {
  Found small = search.least(), fast = fastest;
  if (!capacity.fits(small)) return small;
  for (std::int64_t price = 0; small.cost - fast.cost > small.cost / close_enough;) {
    const std::int64_t more = search.held(fast) - search.held(small);
    const std::int64_t next = more <= 0 ? price : (small.cost - fast.cost + more - 1) / more;
    if (next == price) break;
    price = next;
    Found middle = search.at(price);
    const auto worth = [&](const Found& found) {
      return static_cast<double>(found.cost) + static_cast<double>(price) * static_cast<double>(search.held(found));
    };
    if (worth(middle) >= worth(small)) break;
    (capacity.fits(middle) ? small : fast) = std::move(middle);
  }
  const std::vector<Found>& seen = search.seen();
  for (auto other = seen.rbegin(); other != seen.rend(); ++other)
    small = mixed(tables, std::move(small), *other, capacity);
  return small;
}

}  // namespace

// What is priced is a sum, and second buffers are not: the fullest operator's count. So plans without them are searched
// as well: P never makes what is found worse.
Found search_that_fits(CostTables& tables, std::int64_t layers, const Capacity& capacity) {
  PricedSearch search(tables, layers);
  const Found fastest = search.at(0);
  if (capacity.fits(fastest)) return fastest;
  Found found = at_least_price(tables, search, fastest, capacity);
  const std::vector<std::vector<Time>> latencies = tables.nodes;
  if (!search.be_lean()) return found;
  Found lean = search.at(0);
  const bool has_found = capacity.fits(found), is_exact = tables.beside.empty();
  if (has_found && is_exact && lean.cost >= found.cost) {
    tables.nodes = latencies;
    return found;
  }
  if (!capacity.fits(lean)) lean = at_least_price(tables, search, lean, capacity);
  tables.nodes = latencies;
  const bool has_lean = capacity.fits(lean);
  if (!has_found && !has_lean) return peak_bytes(tables, lean.layers) < peak_bytes(tables, found.layers) ? lean : found;
  Found& better = has_lean && (!has_found || lean.cost < found.cost) ? lean : found;
  return mixed(tables, std::move(better), fastest, capacity);
}

}  // namespace tessera::strategy::primepar
