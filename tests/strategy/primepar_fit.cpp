// Searches under a capacity.
#include <catch2/catch.hpp>

#include <limits>

#include "primepar_tables.hpp"
#include "strategy/primepar/search/search.hpp"

using namespace tessera;
using namespace tessera::strategy::primepar;

namespace {

/// Where peak_bytes() is the whole truth.
Found search_within(CostTables& tables, std::int64_t layers, std::int64_t bytes) {
  return search_that_fits(tables, layers,
                          {bytes, [&](const Found& found) { return peak_bytes(tables, found.layers); }});
}

}  // namespace

TEST_CASE("primepar: what a plan holds at its peak") {
  // Two layers of two operators. All hold 10 + 20 B a layer; the backward pass of the second one frees 15 of its 20,
  // and that of the first one 6 of its 10.
  CostTables tables;
  tables.nodes = {{0, 0}, {0}};
  tables.bytes = {{{10, 6, 0, 0}, {10, 6, 0, 40}}, {{20, 15, 0, 0}}};
  CHECK(peak_bytes(tables, {{0, 0}, {0, 0}}) == 60);
  // 40 B of second buffers come on top of what is held until there: behind the first operator of the second layer
  // 15 have been freed, in the first layer 15 + 6 + 15.
  CHECK(peak_bytes(tables, {{0, 0}, {1, 0}}) == 60 - 15 + 40);
  CHECK(peak_bytes(tables, {{1, 0}, {0, 0}}) == 60 - 36 + 40);
  // What is recomputed is there while its layer runs backward.
  tables.bytes = {{{10, 6, 30, 0}, {10, 6, 30, 90}}, {{20, 0, 7, 0}}};
  CHECK(peak_bytes(tables, {{0, 0}, {0, 0}}) == 60 + 37);
  CHECK(peak_bytes(tables, {{0, 0}, {1, 0}}) == 60 + 30 + 90);
  CHECK(peak_bytes(tables, {{1, 0}, {0, 0}}) == 60 - 6 + 30 + 90);
}

TEST_CASE("primepar: under a capacity, the least price of a byte for which the plan fits") {
  // One operator: 10 us and 4 MiB, 13 us and 2 MiB, 30 us and 1 MiB. At a price of 1 us a MiB the first one costs 14,
  // the second one 15; at 2 they cost 18 and 17. The third one is the least from 17 on: 47 to 47.
  CostTables tables;
  tables.nodes = {{10'000'000, 13'000'000, 30'000'000}};
  tables.bytes = {{{4 << 20}, {2 << 20}, {1 << 20}}};
  const auto within = [&](std::int64_t mebibytes) { return search_within(tables, 1, mebibytes << 20); };
  CHECK(within(4).layers == std::vector<Choice>{{0}});
  CHECK(within(3).layers == std::vector<Choice>{{1}});
  CHECK(within(3).cost == 13'000'000);
  CHECK(within(1).layers == std::vector<Choice>{{2}});
  CHECK(within(0).layers == std::vector<Choice>{{2}});  // nothing fits: the least
  // However much time the last byte costs; of what holds as little, the fastest.
  tables.nodes = {{10'000'000, 900'000'000'000'000, 800'000'000'000'000}};
  tables.bytes = {{{4 << 20}, {(4 << 20) - 1}, {(4 << 20) - 1}}};
  CHECK(search_within(tables, 1, (4 << 20) - 1).layers == std::vector<Choice>{{2}});
  tables.bytes = {{{4 << 20}, {2 << 20}, {2 << 20}}};
  CHECK(within(2).layers == std::vector<Choice>{{2}});
  CHECK(within(1).layers == std::vector<Choice>{{2}});
}

TEST_CASE("primepar: under a capacity, second buffers count once, those of the fullest operator") {
  // Two operators, each 10 ps with 8 MiB of second buffers or 11 ps with none, and 4 MiB held: a plan with buffers
  // needs 8 + 8 MiB, however many operators use them. At no price is a plan with one of both the best.
  CostTables tables;
  tables.nodes = {{10, 11}, {10, 11}};
  tables.edges = {edge(0, 1)};
  tables.edges[0].times = {2, 2, {0, 5, 5, 0}};
  const NodeBytes with{4 << 20, 0, 0, 8 << 20}, without{4 << 20, 0, 0, 0};
  tables.bytes = {{with, without}, {with, without}};
  CHECK(search_within(tables, 1, 16 << 20).layers[0] == Choice{0, 0});
  CHECK(search_within(tables, 1, 15 << 20).layers[0] == Choice{1, 1});
  CHECK(search_within(tables, 1, 7 << 20).layers[0] == Choice{1, 1});  // nothing fits
}

TEST_CASE("primepar: under a capacity, second buffers where the backward pass has freed enough") {
  // Six layers of one operator, 10 ps with 6 MiB of second buffers or 30 ps with none, 4 MiB held, all freed: the last
  // layer may have buffers within 30 MiB, the last but one within 26, and without any they need 24.
  CostTables tables;
  tables.nodes = {{10, 30}};
  tables.bytes = {{{4 << 20, 4 << 20, 0, 6 << 20}, {4 << 20, 4 << 20, 0, 0}}};
  const auto cost = [&](std::int64_t mebibytes) { return search_within(tables, 6, mebibytes << 20).cost; };
  CHECK(cost(30) == 60);
  CHECK(cost(29) == 5 * 10 + 30);
  CHECK(cost(26) == 5 * 10 + 30);
  CHECK(cost(25) == 4 * 10 + 2 * 30);
  CHECK(search_within(tables, 6, 25 << 20).layers == std::vector<Choice>{{0}, {0}, {0}, {0}, {1}, {1}});
}

TEST_CASE("primepar: under a capacity, P is given up where what holds the least with it has too large buffers") {
  // Two layers of one operator, 10 us with 3 MiB held and 6 of buffers, or 11 us with 4 MiB held and none: with buffers
  // in both layers 12 MiB, though they hold the least, with none 8. Where nothing is freed, one layer with them
  // needs 13.
  CostTables tables;
  tables.nodes = {{10'000'000, 11'000'000}};
  tables.bytes = {{{3 << 20, 0, 0, 6 << 20}, {4 << 20, 0, 0, 0}}};
  const auto before = tables.nodes;
  CHECK(search_within(tables, 2, 12 << 20).layers == std::vector<Choice>{{0}, {0}});
  CHECK(search_within(tables, 2, 11 << 20).layers == std::vector<Choice>{{1}, {1}});
  CHECK(search_within(tables, 2, 7 << 20).layers == std::vector<Choice>{{1}, {1}});  // nothing fits
  CHECK(tables.nodes == before);
  // What the first layer holds is not freed before the second one is through; then buffers are in nobody's way.
  tables.bytes = {{{3 << 20, 3 << 20, 0, 6 << 20}, {4 << 20, 4 << 20, 0, 0}}};
  CHECK(search_within(tables, 2, 9 << 20).layers == std::vector<Choice>{{0}, {1}});
}

TEST_CASE("primepar: under a capacity, as many layers are faster as fit") {
  // Eight layers of one operator: 10 us and 3 MiB, or 15 us and 2 MiB: a price finds all of the one or all of the
  // other.
  CostTables tables;
  tables.nodes = {{10'000'000, 15'000'000}};
  tables.bytes = {{{3 << 20}, {2 << 20}}};
  for (std::int64_t faster = 0; faster <= 8; ++faster)
    CHECK(search_within(tables, 8, (16 + faster) << 20).cost == (8 * 15 - 5 * faster) * 1'000'000);
}

TEST_CASE("primepar: under a capacity plans fit, and are little slower than the fastest that fits") {
  double gaps = 0;
  int cases = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CostTables tables = made_up(chain(6), 6, 4, seed);
    scale(tables, 1'000'000);
    const KeyedRandom draws(seed, random_stream("bytes"));
    std::uint64_t index = 0;
    for (const auto& node : tables.nodes) {
      tables.bytes.emplace_back();
      for (std::size_t i = 0; i < node.size(); ++i)
        tables.bytes.back().push_back({static_cast<std::int64_t>(draws.below(index++, 64)) << 20});
    }
    const auto held = [&](const Choice& chosen) { return peak_bytes(tables, {chosen}); };
    const std::int64_t capacity = held(segmented_search(tables, 1).layers[0]) * 3 / 4;
    const Found found = search_within(tables, 1, capacity);
    Time fastest = std::numeric_limits<Time>::max();
    std::vector<std::size_t> chosen(6, 0);
    for (std::size_t number = 0; number < 4096; ++number) {
      for (std::size_t i = 0; i < 6; ++i) chosen[i] = number >> (2 * i) & 3U;
      if (held(chosen) <= capacity) fastest = std::min(fastest, total_cost(tables, {chosen}));
    }
    CAPTURE(seed);
    if (fastest == std::numeric_limits<Time>::max()) continue;
    REQUIRE(held(found.layers[0]) <= capacity);
    REQUIRE(found.cost == total_cost(tables, found.layers));
    REQUIRE(found.cost >= fastest);
    gaps += static_cast<double>(found.cost) / static_cast<double>(fastest) - 1;
    ++cases;
  }
  REQUIRE(cases > 30);
  CAPTURE(gaps / cases);
  CHECK(gaps / cases < 0.03);
}

TEST_CASE(
    "primepar: under a capacity, with sums beside and stages, what is found fits and is no slower than without P") {
  int faster = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    CostTables tables = made_up({edge(0, 1), edge(1, 2), edge(2, 0, true)}, 3, 4, seed);
    scale(tables, 1'000'000);
    const KeyedRandom draws(seed, random_stream("bytes and sums"));
    std::uint64_t index = 0;
    const auto below = [&](Time most) {
      return static_cast<Time>(draws.below(index++, static_cast<std::uint64_t>(most)));
    };
    for (const auto& node : tables.nodes) {
      tables.bytes.emplace_back();
      tables.beside.emplace_back();
      for (const Time all : node) {
        const std::int64_t held = below(64) << 20;
        tables.bytes.back().push_back({held, below(held + 1), below(8) << 20, below(2) * (below(128) << 20)});
        tables.beside.back().push_back({0, all / 2, all / 4, below(400'000'000), below(400'000'000)});
      }
    }
    if (seed % 3 == 1) tables.beside.clear();
    if (seed % 2 == 1) tables.handover = {below(99'000'000), below(99'000'000), below(99'000'000), below(99'000'000)};
    const auto before = tables.nodes;
    // Simulated, a plan needs a tenth more or less than what is added up.
    const auto peak = [&](const Found& found) {
      return peak_bytes(tables, found.layers) * (seed % 4 == 0 ? 11 : 9) / 10;
    };
    const std::int64_t capacity = peak(overlapped_search(tables, 3)) * 4 / 5;
    const Found found = search_that_fits(tables, 3, {capacity, peak});
    CHECK(tables.nodes == before);
    REQUIRE(found.cost == total_cost(tables, found.layers) + exposed_sums(tables, found.layers));
    REQUIRE(forbid_buffers(tables));
    const Found lean = search_that_fits(tables, 3, {capacity, peak});
    tables.nodes = before;
    if (peak(lean) > capacity && peak(found) > capacity) continue;
    REQUIRE(peak(found) <= capacity);
    if (peak(lean) > capacity) continue;
    REQUIRE(found.cost <= lean.cost);
    faster += found.cost < lean.cost ? 1 : 0;
  }
  CHECK(faster > 10);
}
