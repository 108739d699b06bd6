// Searches where gradients are summed beside the backward pass.
#include <catch2/catch.hpp>

#include <limits>

#include "primepar_tables.hpp"
#include "strategy/primepar/search/search.hpp"

using namespace tessera;
using namespace tessera::strategy::primepar;

TEST_CASE("primepar: sums beside the backward pass show as far as nothing hides them") {
  // Backward: the second operator first, 20 ps, after which its sum of 30 ps begins. The first one takes 50 ps, of
  // which the links between nodes are free for 15, and has a sum of 4 ps: inside a node 30 + 4 - 50 leave the 4 ps
  // behind the last gradient, across nodes 30 - 15 + 4.
  CostTables tables;
  tables.nodes = {{100}, {40}};
  const std::vector<Choice> layer{{0, 0}};
  CHECK(exposed_sums(tables, layer) == 0);
  tables.beside = {{{0, 50, 15, 4, 0}}, {{0, 20, 20, 30, 0}}};
  CHECK(exposed_sums(tables, layer) == 4);
  tables.beside = {{{0, 50, 15, 0, 4}}, {{0, 20, 20, 0, 30}}};
  CHECK(exposed_sums(tables, layer) == 19);
  // Sums across go first, for 15 ps; the other 35 hide what there is inside.
  tables.beside = {{{0, 50, 15, 0, 4}}, {{0, 20, 20, 40, 30}}};
  CHECK(exposed_sums(tables, layer) == 19 + 40 - 35);
  // Two layers: the second one's sums come first.
  tables.beside = {{{0, 50, 50, 4, 0}}, {{0, 20, 20, 30, 0}}};
  CHECK(exposed_sums(tables, {{0, 0}, {0, 0}}) == 4);
}

TEST_CASE("primepar: with sums beside, what is found is little slower than the fastest, and no slower than without P") {
  double gaps = 0;
  const int cases = 40;
  for (std::uint64_t seed = 0; seed < cases; ++seed) {
    CAPTURE(seed);
    CostTables tables = made_up(chain(6), 6, 4, seed);
    const KeyedRandom draws(seed, random_stream("beside"));
    std::uint64_t index = 0;
    for (const auto& node : tables.nodes) {
      tables.beside.emplace_back();
      tables.bytes.emplace_back();
      for (const Time all : node) {
        const Time backward = static_cast<Time>(draws.below(index++, static_cast<std::uint64_t>(all) + 1));
        const Time free = static_cast<Time>(draws.below(index++, static_cast<std::uint64_t>(backward) + 1));
        const auto sum = static_cast<Time>(draws.below(index++, 1000));
        const bool is_across = draws.below(index++, 2) == 0;
        tables.beside.back().push_back({0, backward, free, is_across ? 0 : sum, is_across ? sum : 0});
        tables.bytes.back().push_back({0, 0, 0, static_cast<std::int64_t>(tables.bytes.back().size() % 2)});
      }
    }
    Time fastest = std::numeric_limits<Time>::max(), lean = fastest;
    Choice chosen(6, 0);
    for (std::size_t number = 0; number < 4096; ++number) {
      for (std::size_t i = 0; i < 6; ++i) chosen[i] = number >> (2 * i) & 3U;
      fastest = std::min(fastest, total_cost(tables, {chosen}) + exposed_sums(tables, {chosen}));
    }
    const auto before = tables.nodes;
    const Found found = overlapped_search(tables, 1);
    CHECK(tables.nodes == before);
    REQUIRE(found.cost == total_cost(tables, found.layers) + exposed_sums(tables, found.layers));
    REQUIRE(found.cost >= fastest);
    gaps += static_cast<double>(found.cost) / static_cast<double>(fastest) - 1;
    REQUIRE(forbid_buffers(tables));
    lean = overlapped_search(tables, 1).cost;
    REQUIRE(found.cost <= lean);
  }
  CHECK(gaps / cases < 0.10);
}
