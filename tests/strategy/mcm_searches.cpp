// Searches under one contract, and the best contiguous cut beside all there are.
#include "strategy/mcm/searches/searches.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "mcm_packages.hpp"
#include "strategy/mcm/analytic.hpp"
#include "strategy/mcm/learning/policy_search.hpp"
#include "strategy/mcm/searches/sampling.hpp"
#include "support/random_cases.hpp"

using namespace tessera;
using namespace tessera::strategy::mcm;
using namespace tessera::strategy::mcm::tests;

namespace {

/// Asked of the analytic model.
struct Asked {
  Package package;
  Options options;
  Question question{package, options, 7, [this](const std::vector<Partition>& all) { return judge(all); },
                    program::Fidelity::estimate};

  Tensors policy;  ///< which has learnt nothing, for searches that go on from one

  Asked(const workload::Graph& graph, std::uint64_t chips) : package(package_of(graph, chips)) {
    options.evaluator = EvaluatorKind::analytic;
    options.samples = 20;
    options.learning.rollouts = 10;
    options.learning.epochs = 1;
  }
  void bring_policy() {
    const Layout layout(shape_for(graph_input(package), nullptr, false));
    policy = policy_data(layout, first_parameters(layout, 1));
    question.policy = &policy;
  }
  [[nodiscard]] std::vector<program::Evaluation> judge(const std::vector<Partition>& all) const {
    std::vector<program::Evaluation> evaluations;
    for (const Partition& partition : all) {
      REQUIRE(find_violation(package.reduced.problem, partition).value_or("valid") == "valid");
      evaluations.push_back({true, {}, analytic_interval(package, partition)});
    }
    return evaluations;
  }
};

/// Chips ascend along the topological order, and an edge stays on its chip or goes to the next one.
bool is_contiguous(const Package& package, const Partition& partition) {
  const std::vector<NodeId> order = topological_order(package.reduced.problem);
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (partition[order[i]] < partition[order[i - 1]]) return false;
  }
  return std::ranges::all_of(package.reduced.problem.edges,
                             [&](const Edge& edge) { return partition[edge.to] <= partition[edge.from] + 1; });
}

/// One node after another, of so many us each.
workload::Graph chain_of(const std::vector<Time>& times) {
  GraphCase made;
  std::vector<workload::TensorId> before;
  for (std::size_t i = 0; i < times.size(); ++i)
    before = made.node(numbered("n", i), times[i] * microsecond, before, {1});
  return made.graph;
}

}  // namespace

TEST_CASE("mcm: every search finds valid partitions, says so truly, and nothing beats the bound") {
  for (std::uint64_t index = 0; index < test::random_cases(30); ++index) {
    for (const SearchKind& kind : search_kinds()) {
      for (const bool refine : {false, true}) {
        CAPTURE(index, kind.name, refine);
        Asked asked(random_graph(index, 30).graph, 1 + index % 8);
        if (kind.name == "zero-shot") asked.bring_policy();
        if (index % 3 == 0) asked.package.speeds.back() = 0.25;
        Found found = kind.run(asked.question);
        if (refine) {
          const Time before = found.evaluation.time;
          found = refined(asked.question, std::move(found));
          CHECK(found.evaluation.time <= before);
        }
        CHECK_FALSE(find_violation(asked.package.reduced.problem, found.partition));
        CHECK(found.evaluation.time == analytic_interval(asked.package, found.partition));
        CHECK(found.evaluation.time >= least_interval(asked.package));
        REQUIRE_FALSE(found.table.empty());
        CHECK(found.table.back().best == found.evaluation.time);
        const auto has_cost = [&](const auto& row) { return row.cost == found.evaluation.time; };
        CHECK(std::ranges::any_of(found.table, has_cost));
        // The same again: nothing but the question matters.
        Found again = kind.run(asked.question);
        if (refine) again = refined(asked.question, std::move(again));
        CHECK(again.partition == found.partition);
      }
    }
  }
}

TEST_CASE("mcm: the contiguous cut is the best of all, on hundreds of small graphs") {
  for (std::uint64_t index = 0; index < 300; ++index) {
    CAPTURE(index);
    Asked asked(random_graph(index, 7).graph, 1 + index % 4);
    const Package& package = asked.package;
    for (std::size_t chip = 0; chip < package.chips() && index % 2 == 1; ++chip)  // half of them on unequal chips
      asked.package.speeds[chip] = 1.0 / static_cast<double>(1 + (index / 2 + chip * chip) % 4);
    Time best = never;
    for (const Partition& partition :
         brute_force(package.reduced.problem, [&](const Partition& one) { return is_contiguous(package, one); }))
      best = std::min(best, analytic_interval(package, partition));
    const Found found = search_contiguous(asked.question);
    CHECK(is_contiguous(package, found.partition));
    CHECK(found.evaluation.time == best);
  }
}

TEST_CASE("mcm: contiguous cuts and filled chips keep within memory") {
  // Six nodes of 10 us with weights of 40 B, tensors of 1 B. On three chips two each are fastest, 20 us, and hold 80 B
  // of weights, two in buffers of a byte each that comes and that leaves, and one that stays.
  GraphCase made;
  std::vector<workload::TensorId> before;
  for (int i = 0; i < 6; ++i) {
    std::vector<workload::TensorId> reads = before;
    reads.push_back(made.tensor(workload::TensorKind::parameter, 40));
    before = made.node(numbered("n", i), 10 * microsecond, reads, {1});
  }
  Asked asked(made.graph, 6);
  asked.options.evaluator = EvaluatorKind::package;
  asked.package.memory = 130;  // three nodes, were it not for the buffers
  CHECK(search_fill(asked.question).partition == Partition{0, 0, 0, 1, 1, 1});
  asked.package.memory = 120;
  CHECK(search_fill(asked.question).partition == Partition{0, 0, 1, 1, 2, 2});
  CHECK(search_contiguous(asked.question).evaluation.time == 10 * microsecond);
  asked.package.reduced.problem.chips = 3;
  CHECK(search_contiguous(asked.question).partition == Partition{0, 0, 1, 1, 2, 2});
}

TEST_CASE("mcm: equal nodes count nodes, equal time counts time") {
  // 1, 1, 1, 97 us: by nodes two and two, by time three and one.
  GraphCase made;
  std::vector<workload::TensorId> before;
  for (const Time time : {1, 1, 1, 97}) before = made.node(numbered("n", time), time * microsecond, before, {1});
  const Asked asked(made.graph, 2);
  CHECK(search_equal_nodes(asked.question).partition == Partition{0, 0, 1, 1});
  CHECK(search_equal_time(asked.question).partition == Partition{0, 0, 0, 1});
  // More chips than nodes: the first ones have a node each.
  const Asked wide(made.graph, 9);
  CHECK(search_equal_nodes(wide.question).partition == Partition{0, 1, 2, 3});
}

TEST_CASE("mcm: slow chips have less of the time, and their share of the prior") {
  // Four nodes of 10 us on chips of speeds 1 and 1/3: three quarters of the work go to the first, 30 us on both.
  Asked asked(chain_of({10, 10, 10, 10}), 2);
  asked.package.speeds = {1, 1.0 / 3};
  CHECK(search_equal_time(asked.question).partition == Partition{0, 0, 0, 1});
  CHECK(search_contiguous(asked.question).partition == Partition{0, 0, 0, 1});
  CHECK(search_contiguous(asked.question).evaluation.time == 30 * microsecond);
  // As many nodes on each is as before.
  CHECK(search_equal_nodes(asked.question).partition == Partition{0, 0, 1, 1});
  // Middles at 1/8, 3/8, 5/8, 7/8 of the work. Chip 0 ends at 3/4: the first three are at 1/6, 1/2 and 5/6 of it, the
  // last one in the middle of chip 1. The middle of a chip has its number.
  const std::vector<double> middles = centres(asked.question);
  const std::vector<double> expected = {-1.0 / 3, 0, 1.0 / 3, 1};
  for (std::size_t node = 0; node < 4; ++node) CHECK(middles[node] == Approx(expected[node]).margin(1e-9));
}

TEST_CASE("mcm: a contiguous cut gives a slow chip in the middle what it can do") {
  // 10, 1, 40 us on chips of speeds 1, 1/4, 1. On two chips the second, slow one has the 40 us: 160 us. On three it has
  // 1 us, which takes 4, and the third one has the longest: 40 us.
  Asked asked(chain_of({10, 1, 40}), 3);
  asked.package.speeds = {1, 0.25, 1};
  const Found found = search_contiguous(asked.question);
  CHECK(found.partition == Partition{0, 1, 2});
  CHECK(found.evaluation.time == 40 * microsecond);
  // Were they equal, two chips would do as well, and fewest are taken.
  asked.package.speeds = {1, 1, 1};
  CHECK(search_contiguous(asked.question).partition == Partition{0, 0, 1});
}

TEST_CASE("mcm: annealing evaluates exactly its samples") {
  for (const std::int64_t samples : {1, 2, 8, 9, 200}) {
    Asked asked(random_graph(3, 12).graph, 4);
    asked.options.samples = samples;
    CHECK(static_cast<std::int64_t>(search_annealing(asked.question).table.size()) == samples);
  }
}

TEST_CASE("mcm: a graph within memory goes on with what refining moves") {
  // Two chips, 10 | 30 us of nodes of 10 us: a node of the second goes to the first, 20 | 20.
  GraphCase made;
  std::vector<workload::TensorId> before;
  for (int i = 0; i < 4; ++i) before = made.node(numbered("n", i), 10 * microsecond, before, {1});
  const Asked asked(made.graph, 2);
  const Found found = refined(asked.question, judged(asked.question, "by hand", {0, 1, 1, 1}));
  CHECK(found.partition == Partition{0, 0, 1, 1});
  CHECK(found.evaluation.time == 20 * microsecond);
  CHECK(found.table.size() == 2);
  CHECK(found.table[1].accepted);
}

TEST_CASE("mcm: of two networks side by side each has chips of its own, or shares one") {
  // Chains of 3, 1 and 2, 2 us. On two chips each chain has one: 4 us, all of the work spread evenly. On three nothing
  // is better than 3 us, the longest node, and the contiguous cut gets there: 3 | 1, 2 | 2. The middle chip has the end
  // of one network and the beginning of the other.
  GraphCase one, other;
  const Time us = microsecond;
  one.node("b", 1 * us, one.node("a", 3 * us, {}, {1}), {1});
  other.node("b", 2 * us, other.node("a", 2 * us, {}, {1}), {1});
  const workload::Graph both = workload::side_by_side({{"one", one.graph}, {"other", other.graph}});
  for (const SearchKind& kind : search_kinds()) {
    CAPTURE(kind.name);
    Asked asked(both, 2);
    const Found found = kind.run(asked.question);  // judge() has the verifier look at each
    if (kind.name != "fill") CHECK(found.evaluation.time == 4 * us);
  }
  Asked asked(both, 3);
  const Found found = search_contiguous(asked.question);
  CHECK(found.partition == Partition{0, 1, 1, 2});
  CHECK(found.evaluation.time == 3 * us);
}

TEST_CASE("mcm: every search finds valid partitions of two graphs side by side, on random pairs") {
  for (std::uint64_t index = 0; index < test::random_cases(60); ++index) {
    CAPTURE(index);
    const workload::Graph both = workload::side_by_side(
        {{"one", random_graph(index, 12).graph}, {"other", random_graph(index + 1000, 12).graph}});
    for (const SearchKind& kind : search_kinds()) {
      CAPTURE(kind.name);
      Asked asked(both, 1 + index % 6);
      asked.options.samples = 5;
      CHECK_FALSE(find_violation(asked.package.reduced.problem, kind.run(asked.question).partition));
    }
  }
}
