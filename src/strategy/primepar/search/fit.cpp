// The fastest plan that fits into memory, as far as a price on bytes and what lies beside its plans find it.
#include <algorithm>
#include <limits>
#include <utility>

#include "search.hpp"
#include "tessera/program/search/priced.hpp"

namespace tessera::strategy::primepar {
namespace {

constexpr std::int64_t price_unit = 1 << 10;  // B

/// Searches with bytes at a price, in ps a KiB, among what is not forbidden when it begins. What they compare is added
/// to `relaxations`.
class PricedSearch {
 public:
  PricedSearch(CostTables& tables, std::int64_t layers, std::int64_t& relaxations)
      : tables_(tables),
        latencies_(tables.nodes),
        layers_(layers),
        relaxations_(relaxations),
        least_(latencies_.size(), std::numeric_limits<std::int64_t>::max()) {
    for (std::size_t i = 0; i < latencies_.size(); ++i) {
      for (std::size_t choice = 0; choice < latencies_[i].size(); ++choice) {
        if (latencies_[i][choice] < too_much) least_[i] = std::min(least_[i], priced(i, choice));
      }
    }
  }

  Found at(std::int64_t price) {
    return search([&](std::int64_t more_bytes) {
      const std::int64_t units = more_bytes / price_unit;
      return units == 0 ? 0 : std::min(price, too_much / units) * units;
    });
  }

  /// The fastest of those that hold the least.
  Found least() {
    return search([](std::int64_t more_bytes) { return more_bytes > 0 ? too_much : 0; });
  }

  /// All that have been found.
  [[nodiscard]] const std::vector<Found>& seen() const { return seen_; }

  /// What is priced of a plan.
  [[nodiscard]] std::int64_t held(const Found& found) const {
    std::int64_t sum = 0;
    for (const Choice& layer : found.layers) {
      for (std::size_t i = 0; i < layer.size(); ++i) sum += priced(i, layer[i]) / price_unit;
    }
    return sum;
  }

 private:
  /// What recomputation makes again and second buffers are there once, for one layer after the other.
  [[nodiscard]] std::int64_t priced(std::size_t node, std::size_t choice) const {
    const NodeBytes& bytes = tables_.bytes[node][choice];
    return bytes.held + (bytes.again + bytes.buffers) / layers_;
  }

  template <class Price>
  Found search(const Price& price) {
    for (std::size_t i = 0; i < latencies_.size(); ++i) {
      for (std::size_t choice = 0; choice < latencies_[i].size(); ++choice) {
        const Time latency = latencies_[i][choice];
        tables_.nodes[i][choice] = latency < too_much ? latency + price(priced(i, choice) - least_[i]) : latency;
      }
    }
    Found found = overlapped_search(tables_, layers_);
    tables_.nodes = latencies_;
    found.cost = total_cost(tables_, found.layers) + exposed_sums(tables_, found.layers);
    relaxations_ += found.relaxations;
    seen_.push_back(found);
    return found;
  }

  CostTables& tables_;
  std::vector<std::vector<Time>> latencies_;
  std::int64_t layers_;
  std::int64_t& relaxations_;
  std::vector<std::int64_t> least_;  // that is priced, by node
  std::vector<Found> seen_;
};

Found mixed_with_all(const CostTables& tables, Found found, const std::vector<Found>& others,
                     const Capacity& capacity) {
  for (auto other = others.rbegin(); other != others.rend(); ++other)
    found = mixed(tables, std::move(found), *other, capacity);
  return found;
}

/// Between a plan that fits and a faster one that does not; some operators may still be cut as in others.
Found between(const CostTables& tables, PricedSearch& search, Found small, Found fast, const Capacity& capacity) {
  const program::search::PricedPlans<Found> plans{
      [&](std::int64_t price) { return search.at(price); }, [](const Found& found) { return found.cost; },
      [&](const Found& found) { return search.held(found); }, [&](const Found& found) { return capacity.fits(found); }};
  Found found = program::search::fastest_between(plans, std::move(small), std::move(fast));
  return mixed_with_all(tables, std::move(found), search.seen(), capacity);
}

struct Fitting {
  Found found;
  bool fits = false;  ///< false: of what holds the least, the fastest
};

Fitting fitting(const CostTables& tables, PricedSearch& search, const Capacity& capacity) {
  Found fastest = search.at(0);
  if (capacity.fits(fastest)) return {std::move(fastest), true};
  Found small = search.least();
  if (!capacity.fits(small)) return {std::move(small), false};
  return {between(tables, search, std::move(small), std::move(fastest), capacity), true};
}

// What is priced is a sum, and second buffers are not: the fullest operator's count. So plans without them are searched
// as well, as if P were not there, and are where the search with P ends at the worst.
Found with_and_without_buffers(CostTables& tables, std::int64_t layers, const Capacity& capacity,
                               std::int64_t& relaxations) {
  PricedSearch search(tables, layers, relaxations);
  const Fitting all = fitting(tables, search, capacity);
  if (search.seen().size() == 1) return all.found;  // nothing is in the way of the fastest
  const std::vector<std::vector<Time>> latencies = tables.nodes;
  if (!forbid_buffers(tables)) return all.found;
  PricedSearch lean_search(tables, layers, relaxations);
  const Fitting lean = fitting(tables, lean_search, capacity);
  tables.nodes = latencies;
  if (!all.fits && !lean.fits)
    return peak_bytes(tables, lean.found.layers) < peak_bytes(tables, all.found.layers) ? lean.found : all.found;
  if (lean.fits && !all.fits) return between(tables, search, lean.found, search.seen().front(), capacity);
  if (!lean.fits || all.found.cost <= lean.found.cost) return all.found;
  return mixed_with_all(tables, lean.found, search.seen(), capacity);
}

}  // namespace

Found search_that_fits(CostTables& tables, std::int64_t layers, const Capacity& capacity) {
  std::int64_t relaxations = 0;
  Found found = with_and_without_buffers(tables, layers, capacity, relaxations);
  found.relaxations = relaxations;
  return found;
}

}  // namespace tessera::strategy::primepar
