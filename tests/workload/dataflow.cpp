// Loop nests over tiles: by hand, and counted in two ways that know nothing of each other.
#include <map>
#include <set>
#include <tuple>

#include "cost_devices.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/integers.hpp"
#include "tessera/base/random.hpp"
#include "workload/cost/dataflow/mapping.hpp"

namespace tessera::workload {
namespace {

using namespace dataflow;

/// One core of 4 x 4 MACs, 100 ps each; memory of 0.1 B/ps, everything inside much faster.
Rates one_core() { return {{1, 1, 4, 4, Bytes{1'000'000}, 2, 1, 1}, 100, 0.1, 1000, 1000}; }

const Dataflow& flow_named(const std::string& name) {
  for (const Dataflow& one : dataflows())
    if (one.name == name) return one;
  throw InternalError("no dataflow " + name);
}

TEST_CASE("a nest of three tiles by hand: output-stationary") {
  // (4 x 12) (12 x 4) in steps of 4 along k. Each step needs 16 numbers of either operand, 64 B, 640 ps at 0.1 B/ps.
  // The MACs go through 4 of k in 4 clocks, and 6 more to fill and drain: 1,000 ps.
  const Product product = matrices_of(gemm("three", 1, 4, 4, 12, "fp16"));
  const Mapping mapping{{of_m, of_n, of_k}, {}, {1, 4, 4, 4}};
  const Timed found = timed(flow_named("output-stationary"), product, mapping, one_core());
  CHECK(found.accesses == Accesses{48, 48, 0, 0, 16, 16});
  // The first tiles come (640), three steps compute, the 16 results leave (32 B, 320).
  CHECK(found.time == Approx(640 + 3 * 1000 + 320).epsilon(1e-12));
  // Where the memory is slower than the MACs, 1,600 ps for a step's tiles, all but the last step wait for it.
  Rates slow = one_core();
  slow.memory = 0.04;
  CHECK(timed(flow_named("output-stationary"), product, mapping, slow).time ==
        Approx(1600 + 2 * 1600 + 1000 + 800).epsilon(1e-12));
  // With a single bank, of 1 B/ps, tiles come when the MACs do not read: 64 ps more in each of the first two steps.
  Rates one_bank = one_core();
  one_bank.array.banks = 1;
  one_bank.bank = 1;
  CHECK(timed(flow_named("output-stationary"), product, mapping, one_bank).time ==
        Approx(640 + 2 * 1064 + 1000 + 320).epsilon(1e-12));
}

TEST_CASE("a nest of three tiles by hand: what is stationary decides what moves") {
  // (8 x 12) (12 x 4): two tiles along m, three along k.
  const Product product = matrices_of(gemm("six", 1, 8, 4, 12, "fp16"));
  const Sides tile{1, 4, 4, 4};
  // Sums stay: the weights' three tiles come for each of the two rows of tiles.
  CHECK(executed(product, {tile, {of_m, of_n, of_k}}) == Accesses{96, 96, 0, 0, 32, 32});
  // Weights stay, for both tiles of m: these two tiles of sums leave behind the first k and come again for the second
  // and third one, 4 x 16 numbers each way.
  CHECK(executed(product, {tile, {of_n, of_k, of_m}}) == Accesses{96, 48, 64, 64, 32, 32});
  // Inputs stay, but there is one tile along n: nothing is gained or lost against sums that stay.
  CHECK(executed(product, {tile, {of_m, of_k, of_n}}) == Accesses{96, 96, 0, 0, 32, 32});
  // FP16 operands and results are 2 B, sums 4 B.
  const Accesses moved = executed(product, {tile, {of_n, of_k, of_m}});
  CHECK(bytes_read(product, moved) == 2 * (96 + 48) + 4 * 64);
  CHECK(bytes_written(product, moved) == 4 * 64 + 2 * 32);
}

TEST_CASE("cores have whole bytes an element") {
  CHECK_NOTHROW(matrices_of(gemm("product", 1, 8, 8, 8, "fp8")));
  CHECK_THROWS_WITH(matrices_of(gemm("product", 1, 8, 8, 8, "fp4")),
                    "\"product_datatype\": cost model dataflow has whole bytes an element in its SRAM, allowed: same, "
                    "fp8, int8");
}

TEST_CASE("rows of an image by hand") {
  const Product product = rows_of(small_convolution());
  // In units of rows and channels: two samples of 8 rows, 6 filters, 4 channels of 9 terms.
  CHECK(product.sides == Sides{1, 16, 6, 4});
  // Rows 0 to 3 look at image rows 0 to 4, of 8 numbers: the row above is padding. Rows 2 to 5 look at 1 to 6.
  CHECK(product.input_of(0, 4) == 5 * 8);
  CHECK(product.input_of(2, 4) == 6 * 8);
  // From row 6 of the first sample to row 1 of the second one: rows 5 to 7, and 0 to 2.
  CHECK(product.input_of(6, 4) == 6 * 8);
  CHECK(product.input_of(0, 16) == 2 * 64);
  // Strips of 4 rows: 5 rows of the image each, at both edges of both samples.
  CHECK(executed(product, {{1, 4, 6, 4}, {of_m, of_n, of_k}}) == Accesses{4 * 5 * 8 * 4, 6 * 36, 0, 0, 768, 768});
  // As a matrix, 128 windows of 36 numbers are written out.
  CHECK(executed(matrices_of(small_convolution()), {{1, 128, 6, 36}, {of_m, of_n, of_k}}).input == 128 * 36);
}

/// All loops one by one, and a memory of what was there; the walk of the library skips rounds that are alike.
Accesses walked(const Product& product, const Nest& nest) {
  Accesses all;
  Sides rounds{}, at{};
  for (std::size_t i = 0; i < 4; ++i) rounds[i] = ceil_div(product.sides[i], nest.tile[i]);
  using Tile = std::tuple<std::int64_t, std::int64_t, std::int64_t>;
  Tile input{-1, 0, 0}, weights{-1, 0, 0}, sums{-1, 0, 0};
  std::map<Tile, std::int64_t> done;  // tiles of k that a tile of sums has met
  std::int64_t size_of_sums = 0;
  const auto extent = [&](Side side) {
    return std::min(nest.tile[side], product.sides[side] - at[side] * nest.tile[side]);
  };
  const auto leave = [&] {
    if (std::get<0>(sums) >= 0) (done[sums] == rounds[of_k] ? all.results : all.sums_written) += size_of_sums;
  };
  const auto [a, b, c] = nest.order;
  for (at[of_batch] = 0; at[of_batch] < rounds[of_batch]; ++at[of_batch])
    for (at[a] = 0; at[a] < rounds[a]; ++at[a])
      for (at[b] = 0; at[b] < rounds[b]; ++at[b])
        for (at[c] = 0; at[c] < rounds[c]; ++at[c]) {
          const std::int64_t product_count = extent(of_batch), m = extent(of_m), n = extent(of_n), k = extent(of_k);
          if (const Tile now{at[of_batch], at[of_m], at[of_k]}; now != input) {
            input = now;
            all.input += product_count * product.input_of(at[of_m] * nest.tile[of_m], m) * k;
          }
          if (const Tile now{at[of_batch], at[of_n], at[of_k]}; now != weights) {
            weights = now;
            all.weights += product_count * n * k * product.terms_of_k;
          }
          if (const Tile now{at[of_batch], at[of_m], at[of_n]}; now != sums) {
            leave();
            sums = now;
            size_of_sums = product_count * m * n * product.results_of_m;
            (done[now] == 0 ? all.added : all.sums_read) += size_of_sums;
          }
          ++done[sums];
        }
  leave();
  return all;
}

TEST_CASE("closed form, nest with runs and nest step by step agree for each dataflow") {
  const KeyedRandom random(1, 45);
  std::uint64_t drawn = 0;
  const auto draw = [&](std::int64_t most) {
    return 1 + static_cast<std::int64_t>(random.below(drawn++, static_cast<std::uint64_t>(most)));
  };
  std::set<std::string> seen;
  for (int round = 0; round < 400; ++round) {
    Operator op = gemm("any", draw(6), draw(40), draw(40), draw(40), "fp16");
    if (round % 2 == 1) {
      const std::int64_t out = draw(9), window = draw(3), stride = draw(2), pad = window / 2, dilation = draw(2);
      const std::int64_t image = std::max<std::int64_t>(1, (out - 1) * stride + (window - 1) * dilation + 1 - 2 * pad);
      op = gemm("conv", draw(3), draw(4) * out * out, draw(8), draw(8) * window * window, "fp16");
      op.convolution = {image, image, out, out, window, window, stride, pad, dilation};
    }
    for (const Dataflow& flow : dataflows()) {
      if (!flow.applies(op)) continue;
      seen.insert(flow.name);
      const Product product = flow.product(op);
      for (const Order& order : flow.orders) {
        Nest nest{{}, order};
        for (std::size_t i = 0; i < 4; ++i) nest.tile[i] = draw(product.sides[i]);
        CAPTURE(flow.name, round, order, nest.tile, product.sides);
        const Accesses one_by_one = walked(product, nest);
        CHECK(executed(product, nest) == one_by_one);
        CHECK(closed_form(product, nest) == one_by_one);
      }
    }
  }
  CHECK(seen.size() == dataflows().size());
}

TEST_CASE("the walk over runs takes the time of the walk over single steps") {
  // With an image whose strips are all looked at one by one against the same nest as matrices: a 1 x 1 window.
  Operator op = gemm("pointwise", 7, 60, 24, 50, "fp16");
  op.convolution = {60, 1, 60, 1, 1, 1, 1, 0, 1};
  Product matrix = matrices_of(op), rows = rows_of(op);
  REQUIRE(matrix.sides == rows.sides);
  for (const Order& order : {Order{of_k, of_n, of_m}, Order{of_n, of_k, of_m}, Order{of_m, of_n, of_k}}) {
    const Mapping mapping{order, {}, {1, 7, 5, 9}};
    const Dataflow& flow = flow_named("output-stationary");
    const Timed by_runs = timed(flow, matrix, mapping, one_core()), by_steps = timed(flow, rows, mapping, one_core());
    CHECK(by_runs.accesses == by_steps.accesses);
    CHECK(by_runs.time == Approx(by_steps.time).epsilon(1e-9));
  }
}

TEST_CASE("the mapping that is found is legal, and its nest takes the time that is said") {
  const Rates rates{{6, 4, 32, 16, Bytes{200'000}, 8, 64, 64}, 1.0, 1.0, 128, 128};
  for (const Operator& op : {gemm("qkv", 1, 2048, 1536, 3072, "fp16"), gemm("scores", 12, 512, 512, 128, "fp16"),
                             gemm("vector", 1, 1, 4096, 4096, "fp16"), small_convolution()}) {
    for (const Dataflow& flow : dataflows()) {
      const auto found = fastest(flow, op, rates);
      CHECK(found.has_value() == flow.applies(op));
      if (!found) continue;
      CAPTURE(op.name, flow.name);
      const Product product = flow.product(op);
      CHECK(fits(product, found->mapping.tile, rates.array));
      const Timed again = timed(flow, product, found->mapping, rates);
      CHECK(again.time == found->timed.time);
      CHECK(again.accesses == closed_form(product, nest_of(product, found->mapping, rates.array)));
      // Neither faster than all MACs nor than the memory.
      const double macs = static_cast<double>(rates.array.macs());
      CHECK(found->timed.time >= static_cast<double>(op.flops) / 2 / macs * rates.clock);
      CHECK(found->timed.time >= bytes_read(product, again.accesses) + bytes_written(product, again.accesses));
    }
  }
}

TEST_CASE("more SRAM, banks or links never make an operator slower") {
  const Rates rates{{6, 4, 32, 16, Bytes{100'000}, 2, 64, 64}, 1.0, 100, 20, 200};
  const Operator op = gemm("fc1", 1, 1024, 1536, 768, "fp16");
  for (const Dataflow& flow : dataflows()) {
    if (!flow.applies(op)) continue;
    CAPTURE(flow.name);
    const double time = fastest(flow, op, rates)->timed.time;
    Rates more = rates;
    more.array.sram = Bytes{200'000};
    CHECK(fastest(flow, op, more)->timed.time <= time);
    for (double Rates::*rate : {&Rates::memory, &Rates::link, &Rates::bank}) {
      more = rates;
      more.*rate *= 2;
      CHECK(fastest(flow, op, more)->timed.time <= time);
    }
    more = rates;
    more.array.banks = 1;  // turns are taken
    CHECK(fastest(flow, op, more)->timed.time > time);
  }
}

}  // namespace
}  // namespace tessera::workload
