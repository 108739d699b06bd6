// Choices that are struck out before the search: what it finds is what it finds among all of them, to the last tie.
#include "strategy/primepar/search/unbeaten.hpp"

#include <catch2/catch.hpp>

#include "jobs.hpp"
#include "primepar_tables.hpp"
#include "strategy/primepar/search/cost_loops.hpp"
#include "strategy/primepar/search/search.hpp"
#include "tessera/base/processor.hpp"

using namespace tessera;
using namespace tessera::strategy::primepar;

namespace {

/// A layer as ours: 0 .. 7, 1 read by 2 and 4, 5 by 7 too, and 7 by two of the next layer.
std::vector<CostTables::Edge> brief_layer() {
  std::vector<CostTables::Edge> edges = chain(8);
  for (const auto& [from, to] : {std::pair(1, 4), {5, 7}}) edges.push_back(edge(from, to));
  edges.push_back(edge(7, 0, true));
  edges.push_back(edge(7, 5, true));
  return edges;
}

/// Costs as layouts make them: redistribution is dear but between few pairs, and costs of operators differ more.
CostTables uneven(std::size_t choices, std::uint64_t seed, Time most_redistribution) {
  CostTables tables = made_up(brief_layer(), 8, choices, seed);
  for (CostTables::Edge& one : tables.edges) {
    for (Time& time : one.times.times) time %= most_redistribution;
  }
  return tables;
}

std::size_t left_of(const CostTables& tables) {
  std::size_t sum = 0;
  for (const Choice& node : unbeaten(tables)) sum += node.size();
  return sum;
}

/// All-reduces of groups of g take 7 us and g ps a byte.
class AllReducesAlone final : public program::Evaluator {
 public:
  program::Evaluation evaluate(const program::Program& program, program::Fidelity, Communicator&) override {
    const auto members = static_cast<std::int64_t>(program.groups.at(0).members.size());
    return {true, {}, 7'000'000 + members * program.collectives.at(0).bytes.value()};
  }
  [[nodiscard]] int most_ranks() const override { return 1; }
};

void require_same(const CostTables& tables, std::int64_t layers) {
  const Found found = segmented_search(tables, layers), all = search_of_all(tables, layers);
  REQUIRE(found.cost == all.cost);
  REQUIRE(found.layers == all.layers);
}

}  // namespace

TEST_CASE("primepar: by hand, a choice goes that another beats beside any neighbour") {
  // Of operator 0 choice 1 costs 3 more than choice 0, and its redistributions cost 2 less at the most: it goes. Choice
  // 2 costs 3 more and saves 4 beside operator 1's second choice: it stays.
  CostTables tables;
  tables.nodes = {{1, 4, 4}, {0, 0}};
  tables.edges = {edge(0, 1)};
  tables.edges[0].times = {3, 2, {5, 5, 4, 3, 9, 1}};
  CHECK(unbeaten(tables) == std::vector<Choice>{{0, 2}, {0, 1}});
  // As soon as the second choice costs so much that it goes, so does choice 2.
  tables.nodes[1] = {0, 9};
  CHECK(unbeaten(tables) == std::vector<Choice>{{0}, {0}});
}

TEST_CASE("primepar: of two choices that cost the same beside any neighbour the first one stays") {
  CostTables tables;
  tables.nodes = {{2, 1, 1}, {0, 0}};
  tables.edges = {edge(0, 1)};
  tables.edges[0].times = {3, 2, {1, 2, 2, 3, 2, 3}};  // each choice costs 3 or 4
  CHECK(unbeaten(tables) == std::vector<Choice>{{0}, {0}});
  // A later one goes before an earlier one only where it is strictly cheaper.
  tables.nodes[0] = {2, 1, 0};
  CHECK(unbeaten(tables) == std::vector<Choice>{{2}, {0}});
}

TEST_CASE("primepar: what only some layers redistribute does not speak for a choice") {
  // From layer to layer choice 1 saves 5, and costs 1 more: the first layer is better off with choice 0.
  CostTables tables;
  tables.nodes = {{1, 2}};
  tables.edges = {edge(0, 0, true)};
  tables.edges[0].times = {2, 2, {5, 5, 0, 0}};
  CHECK(unbeaten(tables) == std::vector<Choice>{{0, 1}});
  CHECK(segmented_search(tables, 1).layers == std::vector<Choice>{{0}});
  CHECK(segmented_search(tables, 2).layers == std::vector<Choice>{{1}, {0}});
  // In a pipeline's stage there is always a layer before.
  tables.handover = {0, 0};
  CHECK(unbeaten(tables) == std::vector<Choice>{{1}});
  // What the last operator hands over counts as far as it costs more.
  tables.handover = {0, 5};
  CHECK(unbeaten(tables) == std::vector<Choice>{{0, 1}});
}

TEST_CASE("primepar: the search among what is left finds the plan of the search among all") {
  std::size_t left = 0, all = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    for (const Time most : {Time{1}, Time{2}, Time{30}, Time{300}}) {
      CAPTURE(seed, most);
      CostTables tables = uneven(2 + seed % 11, seed, most);
      if (seed % 3 == 0) {  // ties
        for (std::vector<Time>& node : tables.nodes) {
          for (Time& time : node) time %= 3;
        }
      }
      if (seed % 4 == 1) tables.nodes[3][0] += too_much;  // as where something is forbidden
      left += left_of(tables);
      for (const std::vector<Time>& node : tables.nodes) all += node.size();
      for (const std::int64_t layers : {1, 2, 5}) {
        tables.handover.clear();
        require_same(tables, layers);
        for (std::size_t choice = 0; choice < tables.nodes.back().size(); ++choice)
          tables.handover.push_back(static_cast<Time>(choice * 7 % 5));
        require_same(tables, layers);
      }
    }
  }
  CHECK(left < all / 2);
}

TEST_CASE("primepar: on small machines the plan of a layer is that of the search among all") {
  for (const std::int64_t devices : {2, 4, 8}) {
    for (const std::int64_t hidden : {64, 96, 512}) {
      CAPTURE(devices, hidden);
      strategy::TestJob test(static_cast<std::uint32_t>(devices), strategy::gpt(2, hidden, 4), 8);
      test.evaluator = std::make_shared<AllReducesAlone>();
      test.machine.device.peak["fp16"] = FlopPerSecond{100'000'000'000'000};
      const program::search::Evaluations evaluations = test.evaluations();
      const strategy::Job job = test.job_with(evaluations);
      const Graph graph = make_graph("layer", *job.model, job.workload);
      const int bits = device_bits(devices);
      std::vector<std::vector<Partition>> choices;
      for (const Node& node : graph.nodes) choices.push_back(all_partitions(node.op, bits));
      CostTables tables = cost_tables(job, graph, choices, bits, {});
      require_same(tables, 3);
      CHECK(segmented_search(tables, 3).struck_out > 0);
      // With a price on what they hold, too.
      for (std::size_t node = 0; node < tables.nodes.size(); ++node) {
        for (std::size_t i = 0; i < tables.nodes[node].size(); ++i) tables.nodes[node][i] += tables.bytes[node][i].held;
      }
      require_same(tables, 3);
    }
  }
}

TEST_CASE("primepar: loops for AVX2 find the same as those for every processor") {
  std::vector<CostLoops> all{baseline_cost_loops()};
  if (has_avx2()) all.push_back(avx2_cost_loops());
  const KeyedRandom draws(1, random_stream("loops"));
  std::uint64_t index = 0;
  const auto drawn = [&](std::size_t count) {
    std::vector<double> values;
    for (std::size_t i = 0; i < count; ++i) values.push_back(static_cast<double>(draws.below(index++, 1000)));
    return values;
  };
  for (const auto& [rows, inner, columns] :
       {std::tuple<std::size_t, std::size_t, std::size_t>(1, 1, 1), {2, 4, 8}, {3, 7, 13}, {6, 9, 130}, {5, 130, 67}}) {
    CAPTURE(rows, inner, columns);
    const std::vector<double> a = drawn(rows * inner), b = drawn(inner * columns), start = drawn(rows * columns);
    std::vector<double> expected = start;
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < columns; ++j) {
        for (std::size_t k = 0; k < inner; ++k)
          expected[i * columns + j] = std::min(expected[i * columns + j], a[i * inner + k] + b[k * columns + j]);
      }
    }
    double difference = a[0] - b[0];
    const std::size_t count = std::min(a.size(), b.size());
    for (std::size_t i = 0; i < count; ++i) difference = std::max(difference, a[i] - b[i]);
    for (const CostLoops& loops : all) {
      std::vector<double> best = start;
      loops.relax({best.data(), a.data(), b.data(), columns, inner, columns, rows, inner, columns});
      CHECK(best == expected);
      CHECK(loops.most_difference(a.data(), b.data(), count, 1e9) == difference);
      CHECK(loops.most_difference(a.data(), b.data(), count, -1e9) > -1e9);
    }
  }
}
