// The plans that a search simulates, and which one it takes.
#include <catch2/catch.hpp>

#include <algorithm>
#include <map>

#include "jobs.hpp"
#include "strategy/primepar/search/rules.hpp"
#include "strategy/primepar/search/space.hpp"
#include "tessera/strategy/primepar/primepar.hpp"

using namespace tessera;
using namespace tessera::strategy;
using program::search::Tried;

namespace {

/// Times by how many bytes each device sums, which are no times of any machine: what counts is that a search takes the
/// fastest, whatever it predicts.
class ByBytes final : public program::Evaluator {
 public:
  program::Evaluation evaluate(const program::Program& program, program::Fidelity, Communicator&) override {
    ++evaluations;
    Time time = 1'000'000'000;
    for (const program::Collective& collective : program.collectives)
      time += collective.bytes.value() * 7919 % 1'000'003;
    const bool runs = program.operators.empty() || time % 5 != refused;  // what is measured always runs
    return {runs, runs ? "" : "made up", time};
  }
  [[nodiscard]] int most_ranks() const override { return 1; }
  int evaluations = 0;
  Time refused = 5;  ///< of five times; 5: none
};

TestJob job(std::uint32_t devices = 4) {
  TestJob job(devices, gpt(2, 128, 8), 8);
  job.workload.sequence = 64;
  job.machine.device.peak["fp16"] = FlopPerSecond{100'000'000'000'000};
  job.machine.device.memory_bandwidth = BytesPerSecond{1'000'000'000'000};
  job.machine.device.memory_capacity = Bytes{16'000'000'000};
  return job;
}

struct Planned {
  Searched plan;
  std::vector<std::string> problems, warnings;
  int evaluations = 0;
};

Planned plan(const std::string& text, Time refused = 5) {
  TestJob one = job();
  const auto evaluator = std::make_shared<ByBytes>();
  evaluator->refused = refused;
  one.evaluator = evaluator;
  const program::search::Evaluations evaluations = one.evaluations();
  const Job job = one.job_with(evaluations);
  config::Diagnostics diagnostics;
  const auto table = config::parse_toml("name = \"primepar\"\ngraph = \"mlp\"\n" + text, "strategy.toml", diagnostics);
  Planned found;
  const std::string open = primepar::kind().check(*table, job, diagnostics);
  CHECK(evaluator->evaluations == 0);  // checking is no search
  if (diagnostics.ok()) {
    found.plan = primepar::kind().search(*table, job);
    const auto whole = config::clone(*table);
    config::merge(*whole, *found.plan.found);
    config::Diagnostics again;
    CHECK(primepar::kind().check(*whole, job, again).empty());  // nothing is open any more
    CHECK(open.empty() == (text.find("[partitions]") != std::string::npos));
  }
  found.problems = diagnostics.errors();
  found.warnings = diagnostics.warnings();
  found.evaluations = evaluator->evaluations;
  return found;
}

std::map<std::string, Time> times_by_plan(const Searched& plan) {
  std::map<std::string, Time> found;
  for (const Tried& one : plan.table) {
    REQUIRE(found.count(one.candidate) == 0);  // none twice
    found[one.candidate] = one.cost;
  }
  return found;
}

const Tried& taken(const Searched& plan) {
  const auto is_taken = [](const Tried& one) { return one.accepted; };
  REQUIRE(std::ranges::count_if(plan.table, is_taken) == 1);
  return *std::ranges::find_if(plan.table, is_taken);
}

}  // namespace

TEST_CASE("primepar: of the plans that are simulated the fastest is taken, the first of equals") {
  const Planned found = plan("");
  REQUIRE(found.problems == std::vector<std::string>{});
  const Tried& best = taken(found.plan);
  for (const Tried& one : found.plan.table) {
    CHECK(best.cost <= one.cost);
    if (&one < &best) CHECK(best.cost < one.cost);
  }
  CHECK(found.plan.table.front().origin == "search");
  CHECK(best.candidate.find("fc1 " + *found.plan.found->find("partitions")->table()->find("fc1")->string()) == 0);
}

TEST_CASE("primepar: what cannot run is not taken, unless nothing can") {
  for (const Time refused : {0, 1, 2, 3, 4}) {
    const Planned found = plan("", refused);
    const auto runs = [](const Tried& one) { return one.cost > 0; };
    if (std::ranges::any_of(found.plan.table, runs))
      CHECK(runs(taken(found.plan)));
    else
      CHECK(found.plan.table.front().accepted);
  }
}

TEST_CASE("primepar: all plans of the search without P are among those of the search with P") {
  const std::map<std::string, Time> with = times_by_plan(plan("").plan),
                                    without = times_by_plan(plan("temporal = false").plan);
  for (const auto& [text, time] : without) {
    CAPTURE(text);
    REQUIRE(with.count(text) == 1);
    CHECK(text.find('P') == std::string::npos);
  }
  CHECK(with.size() > without.size());
}

TEST_CASE("primepar: tensor parallelism of every degree is among the plans") {
  const std::map<std::string, Time> found = times_by_plan(plan("").plan);
  for (const char* text : {"fc1 {B, B}; activation {B, B}; fc2 {B, B}", "fc1 {B, K}; activation {B, F}; fc2 {B, N}",
                           "fc1 {K, K}; activation {F, F}; fc2 {N, N}"})
    CHECK(found.count(text) == 1);
}

TEST_CASE("primepar: a plan to compare with is among the plans, and is all of one") {
  const std::string text = "[compared]\nfc1 = \"{M, N}\"\nactivation = \"{R, R}\"\nfc2 = \"{K, M}\"";
  const Planned found = plan(text);
  REQUIRE(found.problems == std::vector<std::string>{});
  CHECK(times_by_plan(found.plan).count("fc1 {M, N}; activation {R, R}; fc2 {K, M}") == 1);
  CHECK(found.plan.table.back().origin == "compared");
  const auto problem = [](const std::string& more) { return plan(more).problems.at(0); };
  using Catch::Contains;
  CHECK_THAT(problem("[compared]\nfc1 = \"{M, N}\"\nfc2 = \"{K, M}\""), Contains("none of activation"));
  CHECK_THAT(problem("[compared]\nqkv = \"{M, N}\""), Contains("has no operator qkv"));
  CHECK_THAT(problem("temporal = false\n[compared]\nfc1 = \"{P(2x2)}\"\nactivation = \"{R, R}\"\nfc2 = \"{K, M}\""),
             Contains("{P(2x2)} is not among what the search may choose"));
}

TEST_CASE("primepar: how many plans are simulated, and when none is") {
  for (const char* off : {"simulated = 0", "simulated = 1"}) {
    const Planned found = plan(off);
    REQUIRE(found.plan.table.size() == 1);  // the best predicted one
    CHECK(found.plan.table[0].fidelity == program::Fidelity::estimate);
    CHECK(found.plan.table[0].cost == found.plan.predicted.back().second);
  }
  const auto searched = [](const Searched& plan) {
    return std::ranges::count_if(plan.table, [](const Tried& one) { return one.origin == "search"; });
  };
  CHECK(searched(plan("simulated = 3").plan) == 3);
  CHECK(searched(plan("simulated = 5").plan) == 5);
  const std::string given = "[partitions]\nfc1 = \"{M, N}\"\nactivation = \"{R, R}\"\nfc2 = \"{K, M}\"\n";
  CHECK(plan(given).plan.table.empty());
  CHECK(plan(given).warnings.empty());
  // A plan to compare with is read even where nothing is compared, and it is said.
  const std::string same = "[compared]\nfc1 = \"{M, N}\"\nactivation = \"{R, R}\"\nfc2 = \"{K, M}\"\n";
  CHECK_THAT(plan(given + same).warnings.at(0), Catch::Contains("where all partitions are given"));
  CHECK_THAT(plan("simulated = 1\n" + same).warnings.at(0), Catch::Contains("where simulated is below 2"));
  CHECK_FALSE(plan(given + "[compared]\nfc1 = \"nonsense\"").problems.empty());
  CHECK_THAT(plan("simulated = -1").problems.at(0), Catch::Contains("simulated"));
}

TEST_CASE("primepar: what streams is cut as the product before it leaves its result") {
  // After its forward pass device (d1, r, c) of {K, P(2x2)} has rows r and columns d1, c: {F, M, F}. {B, N, K} leaves
  // the same on both devices that N tells apart: {B, R, F}. The slides' own, and no partition of the space otherwise.
  TestJob one = job(8);
  const primepar::Graph graph = primepar::make_graph("mlp", one.model, one.workload);
  primepar::Space space;
  for (const primepar::Node& node : graph.nodes) space.choices.push_back(primepar::all_partitions(node.op, 3));
  const auto text = [&](const std::string& fc1) {
    const auto first = primepar::find_choice(space, 0, primepar::parse_partition(graph.nodes[0].op, fc1));
    const auto layers = primepar::AsLeft(graph, space).layers({{*first, 0, 0}});
    return primepar::to_text(graph.nodes[1].op, space.choices[1][layers[0][1]]);
  };
  CHECK(text("{K, P(2x2)}") == "{F, M, F}");
  CHECK(text("{B, N, K}") == "{B, R, F}");
  CHECK(text("{P(2x2), M}") == "{M, F, M}");
  std::erase(space.choices[1], primepar::parse_partition(graph.nodes[1].op, "{B, R, F}"));
  CHECK(text("{B, N, K}") == primepar::to_text(graph.nodes[1].op, space.choices[1][0]));
}
