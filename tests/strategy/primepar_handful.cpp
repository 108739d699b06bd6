// The fastest plans for different choices of some operators, against trying everything.
#include "strategy/primepar/search/handful.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <limits>
#include <map>

#include "primepar_tables.hpp"
#include "strategy/primepar/search/narrow.hpp"

using namespace tessera;
using namespace tessera::strategy::primepar;

namespace {

Capacity capacity_of(const CostTables& tables, std::int64_t bytes) {
  return {bytes, [&tables](const Found& found) { return peak_bytes(tables, found.layers); }};
}

/// Operators that hold nothing.
CostTables light(const std::vector<CostTables::Edge>& edges, std::size_t nodes, std::size_t choices,
                 std::uint64_t seed) {
  CostTables tables = made_up(edges, nodes, choices, seed);
  tables.bytes.assign(nodes, std::vector<NodeBytes>(choices));
  return tables;
}

/// What one layer costs at the least, by the choices of operators 1 and 3.
std::vector<Time> least_by_pair(const CostTables& tables, std::int64_t bytes) {
  std::map<std::pair<std::size_t, std::size_t>, Time> least;
  const std::size_t choices = tables.nodes.front().size();
  std::size_t all = 1;
  for (std::size_t i = 0; i < tables.nodes.size(); ++i) all *= choices;
  for (std::size_t number = 0; number < all; ++number) {
    Choice chosen;
    for (std::size_t i = 0, rest = number; i < tables.nodes.size(); ++i, rest /= choices)
      chosen.push_back(rest % choices);
    if (peak_bytes(tables, {chosen}) > bytes) continue;
    const auto [found, added] = least.try_emplace({chosen[1], chosen[3]}, std::numeric_limits<Time>::max());
    found->second = std::min(found->second, total_cost(tables, {chosen}));
  }
  std::vector<Time> costs;
  for (const auto& [pair, cost] : least) costs.push_back(cost);
  std::ranges::sort(costs);
  return costs;
}

}  // namespace

TEST_CASE("primepar: by hand, the three fastest plans for different choices of one operator") {
  // 0 -> 1, two and three choices. Of operator 1's choices the first costs 5 + 1, the second 7 + 0, the third, with
  // choice 1 of operator 0, 2 + 20. The second choice of operator 0, 4, is never part of the others' best.
  CostTables tables;
  tables.nodes = {{1, 4}, {5, 7, 20}};
  tables.bytes = {{{}, {}}, {{}, {}, {}}};
  tables.edges = {edge(0, 1)};
  tables.edges[0].times = {2, 3, {1, 0, 9, 1, 0, 0}};
  const Capacity all = capacity_of(tables, 0);
  const std::vector<Found> found = handful(tables, 1, all, segmented_search(tables, 1), {1}, 8);
  REQUIRE(found.size() == 3);
  CHECK(found[0].layers == std::vector<Choice>{{0, 0}});
  CHECK(found[0].cost == 7);
  CHECK(found[1].layers == std::vector<Choice>{{0, 1}});
  CHECK(found[1].cost == 8);
  CHECK(found[2].layers == std::vector<Choice>{{1, 2}});
  CHECK(found[2].cost == 24);
  CHECK(handful(tables, 1, all, segmented_search(tables, 1), {1}, 2).size() == 2);
}

TEST_CASE("primepar: a choice that costs as much is no other one") {
  CostTables tables;
  tables.nodes = {{1}, {5, 5, 6}};
  tables.bytes = {{{}}, {{}, {}, {}}};
  tables.edges = {edge(0, 1)};
  tables.edges[0].times = {1, 3, {0, 0, 0}};
  const std::vector<Found> found = handful(tables, 1, capacity_of(tables, 0), segmented_search(tables, 1), {1}, 8);
  REQUIRE(found.size() == 2);
  CHECK(found[1].layers == std::vector<Choice>{{0, 2}});
}

TEST_CASE("primepar: the fastest plans for each pair of choices, in order, as trying everything has them") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    const CostTables tables = light(chain(5), 5, 4, seed);
    const std::vector<Found> found =
        handful(tables, 1, capacity_of(tables, 0), segmented_search(tables, 1), {1, 3}, 100);
    const std::vector<Time> least = least_by_pair(tables, 0);
    REQUIRE(found.size() == least.size());  // made-up costs of an operator all differ
    for (std::size_t i = 0; i < least.size(); ++i) {
      CHECK(found[i].cost == least[i]);
      CHECK(found[i].cost == total_cost(tables, found[i].layers));
    }
  }
}

TEST_CASE("primepar: plans of a handful fit, and none comes twice") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    CostTables tables = made_up(chain(5), 5, 4, seed);
    scale(tables, 1'000'000);
    const KeyedRandom draws(seed, random_stream("bytes of a handful"));
    std::uint64_t index = 0;
    for (std::size_t node = 0; node < 5; ++node) {
      tables.bytes.emplace_back();
      for (int i = 0; i < 4; ++i)
        tables.bytes.back().push_back({static_cast<std::int64_t>(draws.below(index++, 64)) << 20, 0, 0, 0});
    }
    const std::int64_t bytes = peak_bytes(tables, segmented_search(tables, 1).layers) * 3 / 4;
    const Capacity capacity = capacity_of(tables, bytes);
    const Found best = search_that_fits(tables, 1, capacity);
    if (!capacity.fits(best)) continue;
    std::vector<Found> found = handful(tables, 1, capacity, best, {1, 3}, 6);
    CHECK(found.front().layers == best.layers);
    for (std::size_t i = 0; i < found.size(); ++i) {
      CHECK(capacity.fits(found[i]));
      for (std::size_t k = 0; k < i; ++k) {
        CHECK(found[i].layers != found[k].layers);
        if (k > 0) CHECK(found[k].cost <= found[i].cost);
      }
    }
  }
}

TEST_CASE("primepar: narrowed tables hold what is cheap, and what they must") {
  // 40 choices of two operators; choice i costs i, and goes on with choice i of the other for nothing, else for 100.
  CostTables tables;
  for (int node = 0; node < 2; ++node) {
    tables.nodes.emplace_back();
    tables.bytes.emplace_back(40);
    for (Time i = 0; i < 40; ++i) tables.nodes.back().push_back(i);
  }
  tables.edges = {edge(0, 1)};
  tables.edges[0].times = {40, 40, std::vector<Time>(1600, 100)};
  for (std::size_t i = 0; i < 40; ++i) tables.edges[0].times.times[i * 41] = 0;
  const Narrowed few = narrowed(tables, {{35, 3}}, 4);
  CHECK(few.kept == std::vector<Choice>{{0, 1, 2, 35}, {0, 1, 2, 3}});
  CHECK(few.tables.nodes[0] == std::vector<Time>{0, 1, 2, 35});
  CHECK(few.tables.edges[0].times.at(1, 1) == 0);
  CHECK(few.tables.edges[0].times.at(3, 3) == 100);
  CHECK(few.widened({{3, 3}}) == std::vector<Choice>{{35, 3}});
}
