// Which tile, which order, which cores: all of a list, and the nest decides.
#include <algorithm>
#include <limits>
#include <vector>

#include "mapping.hpp"
#include "tessera/base/integers.hpp"

namespace tessera::workload::dataflow {
namespace {

/// Tiles of a side of `part` units: cut into 1, 2, 3, 4, 5, 6, 8, 10, 12, 16, ... alike, down to `least`. The numbers
/// have no factors but 2, one 3 or one 5, so that half a side has all the tiles that the whole one has.
std::vector<std::int64_t> tiles_of(std::int64_t part, std::int64_t least) {
  std::vector<std::int64_t> tiles;
  const auto add = [&](std::int64_t pieces) {
    const std::int64_t tile = ceil_div(part, pieces);
    if (pieces > 1 && tile < least) return false;
    if (tiles.empty() || tiles.back() != tile) tiles.push_back(tile);
    return true;
  };
  for (const std::int64_t pieces : {1, 2, 3})
    if (!add(pieces)) return tiles;
  for (std::int64_t power = 4; power <= part; power *= 2)
    for (const std::int64_t pieces : {power, power + power / 4, power + power / 2})
      if (!add(pieces)) return tiles;
  return tiles;
}

/// Sizes of a side's tiles, the core's with it, and how often they come.
struct Kind {
  std::int64_t count = 0, extent = 0;
};
struct Kinds {
  Kind whole, rest;
};
Kinds kinds_of(std::int64_t side, std::int64_t tile, std::int64_t parts) {
  return {{side / tile, ceil_div(tile, parts)}, {side % tile == 0 ? 0 : 1, ceil_div(side % tile, parts)}};
}

class Search {
 public:
  Search(const Dataflow& dataflow, const Operator& op, const Rates& rates)
      : dataflow_(dataflow), product_(dataflow.product(op)), rates_(rates) {}

  std::optional<Found> run() {
    // The most promising one first, so that its nest rules out most of the others.
    visit([&](const Mapping& mapping, double bound) {
      if (bound >= least_bound_) return;
      least_bound_ = bound;
      promising_ = mapping;
    });
    if (least_bound_ == infinite) return std::nullopt;
    best_ = {promising_, timed(dataflow_, product_, promising_, rates_)};
    visit([&](const Mapping& mapping, double bound) {
      if (bound >= best_.timed.time) return;
      const Timed found = timed(dataflow_, product_, mapping, rates_);
      if (found.time < best_.timed.time) best_ = {mapping, found};
    });
    return best_;
  }

 private:
  static constexpr double infinite = std::numeric_limits<double>::infinity();

  template <class Visit>
  void visit(const Visit& visit) {
    for (const Side along_rows : {of_batch, of_m, of_n, of_k}) {
      for (const Side along_columns : {of_batch, of_m, of_n, of_k}) {
        const Spread spread{along_rows, along_columns};
        if (is_worth_it(spread)) visit_tiles(spread, visit);
      }
    }
  }

  /// Cores share out a side that has more than one unit.
  [[nodiscard]] bool is_worth_it(const Spread& spread) const {
    const auto fits_along = [&](Side side, std::int64_t cores) { return cores == 1 || product_.sides[side] > 1; };
    const bool any =
        fits_along(spread.along_rows, rates_.array.rows) && fits_along(spread.along_columns, rates_.array.columns);
    return any || spread == Spread{};
  }

  template <class Visit>
  void visit_tiles(const Spread& spread, const Visit& visit) {
    const Sides parts = spread.parts(rates_.array);
    const std::int64_t least = dataflow_.rows_alone ? 1 : std::min(rates_.array.pe_rows, rates_.array.pe_columns);
    const auto tiles = [&](Side side) { return tiles_of(ceil_div(product_.sides[side], parts[side]), least); };
    const std::vector<std::int64_t> all_m = tiles(of_m), all_n = tiles(of_n), all_k = tiles(of_k);
    Mapping mapping{{}, spread, {1, 1, 1, 1}};
    for (const std::int64_t m : all_m) {
      for (const std::int64_t n : all_n) {
        for (const std::int64_t k : all_k) {
          mapping.tile = {1, m, n, k};
          if (fits(product_, mapping.tile, rates_.array)) visit_orders(mapping, parts, visit);
        }
      }
    }
  }

  template <class Visit>
  void visit_orders(Mapping& mapping, const Sides& parts, const Visit& visit) {
    const double computing = least_computing(mapping, parts);
    const double ends = at_the_ends(mapping, parts);
    if (computing + ends >= limit()) return;
    for (const Order& order : dataflow_.orders) {
      mapping.order = order;
      const Accesses moved = closed_form(product_, nest_of(product_, mapping, rates_.array));
      const double memory = (bytes_read(product_, moved) + bytes_written(product_, moved)) / rates_.memory;
      visit(mapping, std::max(computing + ends, memory));
    }
  }

  [[nodiscard]] double limit() const { return best_.timed.time > 0 ? best_.timed.time : least_bound_; }

  /// Sum of all steps' arithmetic, whatever their order.
  [[nodiscard]] double least_computing(const Mapping& mapping, const Sides& parts) const {
    const machine::ArraySpec& array = rates_.array;
    std::array<Kinds, 4> kinds;
    for (std::size_t side = 0; side < 4; ++side)
      kinds[side] =
          kinds_of(product_.sides[side], std::min(product_.sides[side], mapping.tile[side] * parts[side]), parts[side]);
    const double products = real(kinds[of_batch].whole.count + kinds[of_batch].rest.count);
    double clocks = 0;
    for (const Kind& m : {kinds[of_m].whole, kinds[of_m].rest}) {
      for (const Kind& n : {kinds[of_n].whole, kinds[of_n].rest}) {
        for (const Kind& k : {kinds[of_k].whole, kinds[of_k].rest}) {
          if (m.count == 0 || n.count == 0 || k.count == 0) continue;
          const std::int64_t one = dataflow_.work(product_, {1, m.extent, n.extent, k.extent}, array).clocks;
          clocks += real(m.count) * real(n.count) * real(k.count) * real(one + array.pe_rows + array.pe_columns - 2);
        }
      }
    }
    return rates_.clock * products * clocks;
  }

  /// The first tiles of the operands come before anything is computed.
  [[nodiscard]] double at_the_ends(const Mapping& mapping, const Sides& parts) const {
    const auto extent = [&](Side side) { return std::min(product_.sides[side], mapping.tile[side] * parts[side]); };
    const std::int64_t batch = extent(of_batch), n = extent(of_n), k = extent(of_k);
    const double input = product_.input * real(batch * product_.input_of(0, extent(of_m)) * k);
    return (input + product_.weight * real(batch * product_.weights_of(n, k))) / rates_.memory;
  }

  const Dataflow& dataflow_;
  Product product_;
  const Rates& rates_;
  double least_bound_ = infinite;
  Mapping promising_;
  Found best_;
};

}  // namespace

std::optional<Found> fastest(const Dataflow& dataflow, const Operator& op, const Rates& rates) {
  if (!dataflow.applies(op)) return std::nullopt;
  return Search(dataflow, op, rates).run();
}

}  // namespace tessera::workload::dataflow
