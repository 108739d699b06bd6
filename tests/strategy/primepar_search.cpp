// That what the segmented search finds is the least.
#include "strategy/primepar/search/search.hpp"

#include <catch2/catch.hpp>

#include <limits>

#include "primepar_tables.hpp"
#include "tessera/base/error.hpp"

using namespace tessera;
using namespace tessera::strategy::primepar;

namespace {

/// To few different values.
void round(CostTables& tables) {
  for (std::vector<Time>& node : tables.nodes) {
    for (Time& time : node) time %= 3;
  }
  for (CostTables::Edge& one : tables.edges) {
    for (Time& time : one.times.times) time %= 2;
  }
}

/// The first of the cheapest plans, by trying all of them.
Found exhaustive_search(const CostTables& tables, std::int64_t layers) {
  const Choice first(tables.nodes.size(), 0);
  std::vector<Choice> chosen(static_cast<std::size_t>(layers), first);
  Found found{chosen, std::numeric_limits<Time>::max(), 0};
  for (bool more = true; more;) {
    const Time cost = total_cost(tables, chosen);
    if (cost < found.cost) {
      found.cost = cost;
      found.layers = chosen;
    }
    more = false;  // the next one, the last node of the last layer fastest
    for (std::size_t layer = chosen.size(); layer-- > 0 && !more;) {
      for (std::size_t i = first.size(); i-- > 0 && !more;) {
        more = ++chosen[layer][i] < tables.nodes[i].size();
        if (!more) chosen[layer][i] = 0;
      }
    }
  }
  return found;
}

}  // namespace

TEST_CASE("primepar: the segmented search finds the least of everything") {
  // A layer: 0 .. 11, the projection read by two, both residuals, and the next layer's two readers. A short one for
  // more than one layer: 0 .. 4, 1 read by two, 4 by two of the next layer.
  std::vector<CostTables::Edge> layer = chain(12), brief = chain(5);
  for (const auto& [from, to] : {std::pair(1, 4), {6, 11}}) layer.push_back(edge(from, to));
  layer.push_back(edge(11, 0, true));
  layer.push_back(edge(11, 6, true));
  brief.push_back(edge(1, 3));
  brief.push_back(edge(4, 0, true));
  brief.push_back(edge(4, 3, true));
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    for (const auto& [edges, nodes, choices, layers] : {std::tuple(layer, 12, 2, 1),
                                                        {chain(1), 1, 5, 1},
                                                        {chain(3), 3, 7, 1},
                                                        {chain(6), 6, 4, 1},
                                                        {brief, 5, 3, 2},
                                                        {brief, 5, 2, 3}}) {
      CAPTURE(seed, nodes, layers);
      for (const bool many_ties : {false, true}) {
        CostTables tables = made_up(edges, static_cast<std::size_t>(nodes), static_cast<std::size_t>(choices), seed);
        if (many_ties) round(tables);
        const Found found = segmented_search(tables, layers), best = exhaustive_search(tables, layers);
        CHECK(found.cost == best.cost);
        CHECK(found.layers == best.layers);  // the first of all that cost as much
      }
    }
  }
}

TEST_CASE("primepar: in a pipeline's stage what is behind the last layer is before the first one") {
  std::vector<CostTables::Edge> brief = chain(5);
  brief.push_back(edge(1, 3));
  brief.push_back(edge(4, 0, true));
  brief.push_back(edge(4, 3, true));
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    for (const auto& [choices, layers] : {std::pair(3, 1), {3, 2}, {2, 3}}) {
      CAPTURE(seed, choices, layers);
      CostTables tables = made_up(brief, 5, static_cast<std::size_t>(choices), seed);
      for (const bool many_ties : {false, true}) {
        if (many_ties) round(tables);
        tables.handover.clear();
        for (int choice = 0; choice < choices; ++choice)
          tables.handover.push_back((many_ties ? 1 : 300) * (choice % 2));
        const Found found = segmented_search(tables, layers), best = exhaustive_search(tables, layers);
        CHECK(found.cost == best.cost);
        CHECK(found.layers == best.layers);
      }
    }
  }
}

TEST_CASE("primepar: three operators by hand") {
  // 0 -> 1 -> 2, and 0 -> 2. Two choices each; choices 0, 1, 0 cost 1 + 1 + 1 + 2 + 2 + 3 = 10, all others more.
  CostTables tables;
  tables.nodes = {{1, 9}, {9, 1}, {1, 9}};
  tables.edges = {edge(0, 1), edge(1, 2), edge(0, 2)};
  tables.edges[0].times = {2, 2, {0, 2, 50, 50}};
  tables.edges[1].times = {2, 2, {0, 50, 2, 50}};
  tables.edges[2].times = {2, 2, {3, 50, 50, 50}};
  const Found found = segmented_search(tables, 1);
  CHECK(found.layers == std::vector<Choice>{{0, 1, 0}});
  CHECK(found.cost == 10);
}

TEST_CASE("primepar: layers are cut differently where that is faster") {
  // One operator a layer, two choices, 1 and 2; from the first to itself 10, from the second to itself nothing, between
  // them 3. Three layers: 2 + 2 + 2 = 6 beats 1 + 10 + ..., and 1 + 3 + 2 + 0 + 2 = 8. With 0 from the first to the
  // second, 1 + 0 + 2 + 0 + 2 = 5.
  CostTables tables;
  tables.nodes = {{1, 2}};
  tables.edges = {edge(0, 0, true)};
  tables.edges[0].times = {2, 2, {10, 3, 3, 0}};
  CHECK(segmented_search(tables, 3).layers == std::vector<Choice>{{1}, {1}, {1}});
  CHECK(segmented_search(tables, 3).cost == 6);
  tables.edges[0].times = {2, 2, {10, 0, 3, 0}};
  CHECK(segmented_search(tables, 3).layers == std::vector<Choice>{{0}, {1}, {1}});
  CHECK(segmented_search(tables, 3).cost == 5);
}

TEST_CASE("primepar: of equal costs the first choices win") {
  CostTables tables;
  tables.nodes = {{1, 1}, {2, 2, 2}, {3, 3}};
  tables.edges = {edge(0, 1), edge(1, 2), edge(2, 0, true)};
  tables.edges[0].times = {2, 3, {1, 0, 0, 0, 0, 0}};
  tables.edges[1].times = {3, 2, {0, 0, 0, 0, 0, 0}};
  tables.edges[2].times = {2, 2, {0, 0, 0, 0}};
  // {0, 1, 0}, {0, 2, 0}, {1, 0, 0} and so on all cost 6; {0, 0, 0} costs 7.
  const Found found = segmented_search(tables, 2);
  CHECK(found.cost == 12);
  CHECK(found.layers == std::vector<Choice>{{0, 1, 0}, {0, 1, 0}});
}

TEST_CASE("primepar: an operator that is read behind its segment is carried") {
  // 1 is read by 4, and 2 by 5: neither is at an end when the segments that begin there are merged.
  std::vector<CostTables::Edge> edges = chain(7);
  edges.push_back(edge(1, 4));
  edges.push_back(edge(2, 5));
  std::vector<CostTables::Edge> layers = chain(4);  // 0 is read by 2, 1 by 3, 3 by the next layer's 0 and 2
  for (const auto& [from, to] : {std::pair(0, 2), {1, 3}}) layers.push_back(edge(from, to));
  layers.push_back(edge(3, 0, true));
  layers.push_back(edge(3, 2, true));
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    CAPTURE(seed);
    CostTables one = made_up(edges, 7, 3, seed), several = made_up(layers, 4, 3, seed);
    for (const bool many_ties : {false, true}) {
      if (many_ties) round(one), round(several);
      CHECK(segmented_search(one, 1).cost == exhaustive_search(one, 1).cost);
      CHECK(segmented_search(one, 1).layers == exhaustive_search(one, 1).layers);
      CHECK(segmented_search(several, 2).cost == exhaustive_search(several, 2).cost);
      CHECK(segmented_search(several, 2).layers == exhaustive_search(several, 2).layers);
    }
  }
}
