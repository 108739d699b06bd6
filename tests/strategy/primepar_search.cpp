// What the search adds up, and that what it finds is the least.
#include "strategy/primepar/search.hpp"

#include <catch2/catch.hpp>

#include <limits>
#include <map>

#include "jobs.hpp"
#include "strategy/primepar/layouts.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/random.hpp"

using namespace tessera;
using namespace tessera::strategy::primepar;
using Catch::Matchers::Contains;

namespace {

using Moved = std::map<std::pair<int, int>, std::int64_t>;

Moved moved(const std::vector<Piece>& pieces) {
  Moved found;
  for (const Piece& piece : pieces) found[{piece.from, piece.to}] += piece.elements();
  return found;
}

/// Made-up costs of a graph with these edges, so many choices an operator.
CostTables made_up(const std::vector<CostTables::Edge>& edges, std::size_t nodes, std::size_t choices,
                   std::uint64_t seed) {
  const KeyedRandom draws(seed, random_stream("costs"));
  std::uint64_t index = 0;
  const auto times = [&](std::size_t count) {
    std::vector<Time> found;
    for (std::size_t i = 0; i < count; ++i) found.push_back(static_cast<Time>(draws.below(index++, 1000)));
    return found;
  };
  CostTables tables;
  for (std::size_t node = 0; node < nodes; ++node) tables.nodes.push_back(times(choices));
  for (CostTables::Edge edge : edges) {
    edge.times = {choices, choices, times(choices * choices)};
    tables.edges.push_back(std::move(edge));
  }
  return tables;
}

CostTables::Edge edge(int from, int to, bool to_next_layer = false) { return {from, to, to_next_layer, {}}; }

std::vector<CostTables::Edge> chain(int nodes) {
  std::vector<CostTables::Edge> edges;
  for (int node = 1; node < nodes; ++node) edges.push_back(edge(node - 1, node));
  return edges;
}

void scale(CostTables& tables, Time by) {
  for (std::vector<Time>& node : tables.nodes) {
    for (Time& time : node) time *= by;
  }
  for (CostTables::Edge& one : tables.edges) {
    for (Time& time : one.times.times) time *= by;
  }
}

/// To few different values.
void round(CostTables& tables) {
  for (std::vector<Time>& node : tables.nodes) {
    for (Time& time : node) time %= 3;
  }
  for (CostTables::Edge& one : tables.edges) {
    for (Time& time : one.times.times) time %= 2;
  }
}

/// Where peak_bytes() is the whole truth.
Found search_within(CostTables& tables, std::int64_t layers, std::int64_t bytes) {
  return search_that_fits(tables, layers,
                          {bytes, [&](const Found& found) { return peak_bytes(tables, found.layers); }});
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

/// All-reduces of groups of g that take 7 us and g ns for each 1,000 B. Kernels: a product 9 us, gathering 1 ns for
/// each 1,000 B, scattering 2 ns near memory and 3 ns otherwise.
class MadeUpEvaluator final : public program::Evaluator {
 public:
  program::Evaluation evaluate(const program::Program& program) override {
    ++runs;
    const auto members = static_cast<std::int64_t>(program.groups.at(0).members.size());
    if (!program.collectives.empty()) return {true, {}, 7'000'000 + members * program.collectives.at(0).bytes, 0};
    const auto* copy = std::get_if<program::CopyKernel>(&program.kernels.at(0).work);
    if (copy == nullptr) {
      device = program.groups[0].members[0];
      return {true, {}, 9'000'000, 0};
    }
    const std::int64_t rate = copy->kind == program::CopyKind::all_gather ? 1 : copy->near_memory ? 2 : 3;
    return {true, {}, rate * copy->bytes, 0};
  }
  int runs = 0;
  program::DeviceId device = 0;  // that computed the last product
};

}  // namespace

TEST_CASE("primepar: redistributions in numbers are those in elements") {
  // Attention with two heads of keys and values among eight, a gated MLP, on 8 devices: 40 pairs drawn for each edge.
  workload::Model model = strategy::gpt(2, 128, 8);
  model.kv_heads = 2;
  model.gated_mlp = true;
  strategy::Workload workload;
  workload.sequence = 64;
  workload.global_batch = 4;
  const Graph graph = make_graph("layer", model, workload);
  const KeyedRandom draws(1, random_stream("pairs"));
  std::uint64_t index = 0;
  for (const Edge& one : graph.edges) {
    const auto drawn = [&](int node) {
      const Operator& op = graph.nodes[static_cast<std::size_t>(node)].op;
      const auto all = all_partitions(op, 3);
      return Slices(op, all[static_cast<std::size_t>(draws.below(index++, all.size()))], 3);
    };
    std::vector<Slices> from, to;
    for (int i = 0; i < 40; ++i) {
      from.push_back(drawn(one.from));
      to.push_back(drawn(one.to));
    }
    std::vector<const Slices*> producers, consumers;
    for (std::size_t i = 0; i < 40; ++i) {
      producers.push_back(&from[i]);
      consumers.push_back(&to[i]);
    }
    Redistributions forth = forward_redistributions(one.shared, producers, consumers);
    Redistributions back = backward_redistributions(one.shared, producers, consumers);
    for (std::size_t i = 0; i < 40; ++i) {
      CAPTURE(from[i].op().name, to[i].op().name, to_text(from[i].op(), from[i].partition()),
              to_text(to[i].op(), to[i].partition()));
      Moved forward, backward;
      const auto add = [&](Redistributions& all, Moved& sums) {
        const auto [senders, elements] = all.messages(i)[i];
        all.visit(all.senders(senders), i, i, [&](int a, int b, std::int64_t n) {
          sums[{a, b}] += n;
          if (elements != 0) REQUIRE(n == elements);  // messages are alike where it says so
        });
      };
      add(forth, forward);
      add(back, backward);
      REQUIRE(forward == moved(forward_redistribution(one.shared, from[i], to[i])));
      REQUIRE(backward == moved(backward_redistribution(one.shared, from[i], to[i])));
    }
  }
}

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

TEST_CASE("primepar: all-reduces cost what the evaluator says of two sizes, in a line, each pattern measured once") {
  strategy::TestJob test(8, strategy::gpt(1, 128, 8), 8);
  MadeUpEvaluator evaluator;
  strategy::Job job;
  job.machine = &test.machine;
  job.collectives = &test.collectives;
  job.evaluator = &evaluator;
  GroupCosts costs = all_reduce_costs(job);
  const std::vector<std::vector<int>> pairs{{0, 4}, {1, 5}, {2, 6}, {3, 7}}, quarters{{0, 1, 2, 3}, {4, 5, 6, 7}};
  CHECK(costs.time(pairs, 1'000'000) == 7'000'000 + 2 * 1'000'000);
  CHECK(costs.time(quarters, 1'000'000'000) == 7'000'000 + std::int64_t{4} * 1'000'000'000);
  CHECK(costs.time(pairs, 500) == 7'000'000 + 2 * 500);
  CHECK(costs.time({}, 500) == 0);
  CHECK(evaluator.runs == 4);
}

TEST_CASE("primepar: products at transaction level cost the product and its sum, beside it near memory") {
  strategy::TestJob test(8, strategy::gpt(1, 128, 8), 8);
  test.machine.device.transaction = machine::GpuSpec{};
  test.machine.device.peak["fp16"] = 100'000'000'000'000;
  MadeUpEvaluator evaluator;
  strategy::Job job;
  job.machine = &test.machine;
  job.collectives = &test.collectives;
  job.evaluator = &evaluator;
  const std::vector<std::vector<int>> halves{{0, 1, 2, 3}, {4, 5, 6, 7}};
  const auto product = [](std::int64_t m) { return workload::gemm("product", 1, m, 1000, 64, "fp16"); };
  const auto time = [&](const char* configuration, std::int64_t m) {
    return SublayerCosts(job, program::sublayer::configuration(configuration))
        .time(halves, product(m), program::Activity::forward, 1.0);
  };
  // 1,000 x 1,000 x 2 B are summed: 6 us or near memory 4, and gathered: 2. Their 8 x 4 tiles are two waves on 16 CUs:
  // near memory the sum begins after 4.5 us, and ends before the product does. Of 4,000 rows: 24 or 16 us, and 8; of
  // their 8 waves the first chunk of 4 takes a quarter of 9 us. One of 500 rows is a single wave, behind which nothing
  // is computed.
  test.machine.device.cores = 16;
  CHECK(time("sequential", 1000) == 9'000'000 + 6'000'000 + 2'000'000);
  CHECK(time("t3", 1000) == 9'000'000 + 2'000'000);
  CHECK(time("t3-mca", 4000) == 2'250'000 + 16'000'000 + 8'000'000);
  CHECK(time("t3", 500) == 9'000'000 + 2'000'000 + 1'000'000);
  // A product is measured once, and two sizes of each kernel that copies.
  evaluator.runs = 0;
  SublayerCosts costs(job, program::sublayer::configuration("t3"));
  for (int i = 0; i < 3; ++i) static_cast<void>(costs.time(halves, product(1000), program::Activity::forward, 1.0));
  CHECK(evaluator.runs == 5);
  // Again on a device that is as slow as the slowest of the group.
  test.machine.speed[2] = 0.5;
  static_cast<void>(costs.time(halves, product(1000), program::Activity::forward, 0.5));
  CHECK(evaluator.runs == 6);
  CHECK(evaluator.device == 2);
}
