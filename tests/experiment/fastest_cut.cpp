// Megatron's open keys, with the simulator behind them.
#include <catch2/catch.hpp>

#include <fmt/format.h>

#include <optional>
#include <set>

#include "strategy/jobs.hpp"
#include "tessera/base/random.hpp"
#include "tessera/sim/simulate.hpp"

namespace tessera::strategy {
namespace {

using program::Fidelity;

/// A job whose programs are really simulated.
TestJob simulated(std::uint32_t devices, workload::Model model, std::int64_t batch, std::int64_t sequence = 64) {
  TestJob job(devices, std::move(model), batch);
  job.workload.sequence = sequence;
  job.machine.device.memory_capacity = Bytes{1'000'000'000'000};
  job.machine.device.peak["fp16"] = FlopPerSecond{10'000'000'000'000};
  return job;
}

std::shared_ptr<program::Evaluator> evaluator_of(const TestJob& job) {
  return sim::make_evaluator(job.machine, *job.cost);
}

class Draws {
 public:
  explicit Draws(std::uint64_t key) : random_(key, random_stream("megatron jobs")) {}
  template <class T>
  T of(std::initializer_list<T> choices) {
    const auto at = static_cast<std::size_t>(random_.real(next_++) * static_cast<double>(choices.size()));
    return choices.begin()[at];
  }

 private:
  KeyedRandom random_;
  std::uint64_t next_ = 0;
};

/// One of many small jobs: experts, slow devices, uneven stages, all schedules. Empty where the draw is no cut.
std::optional<std::pair<TestJob, Plan>> drawn(std::uint64_t key) {
  Draws draw(key);
  const auto devices = draw.of({2U, 4U, 8U, 16U});
  const bool experts = draw.of({0, 0, 1}) == 1;
  TestJob job = simulated(devices, experts ? mixture(4, 4) : gpt(draw.of({4, 6}), 256, 8, 1024), draw.of({4, 8}));
  job.collectives.channels = draw.of({0, 0, 2});
  job.collectives.reduction = draw.of({std::string("memory"), std::string("free")});
  for (auto& speed : job.machine.speed) speed = draw.of({1.0, 1.0, 1.0, 0.5});
  const auto yes = [&] { return draw.of({"true", "false"}); };
  std::string keys =
      fmt::format("tensor = {}\npipeline = {}\nmicro_batch = {}\ninterleave = {}\nuneven_layers = \"spread\"\n",
                  draw.of({1, 2, 4, 8}), draw.of({1, 2, 4}), draw.of({1, 2}), draw.of({1, 1, 2}));
  keys += fmt::format("recomputation = \"{}\"\nsequence_parallel = {}\ndistributed_optimizer = {}\n",
                      draw.of({"none", "selective", "full"}), yes(), yes());
  keys += fmt::format("overlap_gradient_reduction = {}\noverlap_tensor_communication = {}\n", yes(), yes());
  if (draw.of({0, 1}) == 1) keys += "schedule = \"gpipe\"\n";
  if (draw.of({0, 0, 1}) == 1)
    keys += fmt::format("data_sharding = \"parameters\"\ngather_ahead = {}\nreshard_after_forward = {}\n",
                        draw.of({0, 1, 2}), yes());
  if (experts)
    keys += fmt::format("expert_parallel = {}\nexpert_imbalance = {}\nexpert_tensor = {}\n", draw.of({1, 2, 4}),
                        draw.of({0.0, 0.4}), draw.of({0, 0, 1}));
  Plan plan = job.plan(keys);
  if (!job.diagnostics.ok()) return std::nullopt;
  return std::pair{std::move(job), std::move(plan)};
}

}  // namespace

TEST_CASE("no simulated time of 500 random jobs is below its bound, and memory is what it is") {
  int jobs = 0;
  double closeness = 0;
  for (std::uint64_t key = 0; jobs < 500; ++key) {
    const auto made = drawn(key);
    if (!made) continue;
    ++jobs;
    CAPTURE(key);
    const auto evaluator = evaluator_of(made->first);
    const program::Outlook outlook = evaluator->outlook(made->second.program);
    const auto alone = make_serial_communicator();
    const program::Evaluation real = evaluator->evaluate(made->second.program, Fidelity::simulated, *alone);
    REQUIRE(real.feasible);
    REQUIRE(outlook.feasible);
    REQUIRE(outlook.least <= real.time);
    CHECK(outlook.least > 0);
    CHECK(outlook.estimate >= outlook.least);
    closeness += static_cast<double>(outlook.least) / static_cast<double>(real.time) / 500;
  }
  CHECK(closeness > 0.6);  // it is no bound by being nothing
}

TEST_CASE("the plan of a search is that of simulating every candidate, and each is a candidate once") {
  TestJob job = simulated(8, gpt(8, 256, 8, 1024), 8);
  job.evaluator = evaluator_of(job);
  const auto table = config::parse_toml(
      "tensor = \"any\"\npipeline = \"any\"\nmicro_batch = \"any\"\ninterleave = [1, 2]\nschedule = \"any\"\n"
      "recomputation = [\"none\", \"full\"]\nsequence_parallel = \"any\"\n",
      "strategy.toml", job.diagnostics);
  const auto evaluations = job.evaluations();
  const Job seen = job.job_with(evaluations);
  const StrategyKind kind = megatron::kind();
  const std::string open = kind.check(*table, seen, job.diagnostics);
  REQUIRE(job.diagnostics.ok());
  const Searched searched = kind.search(*table, seen);
  REQUIRE(searched.report);
  CHECK(open ==
        std::to_string(searched.report->found.judged.size()) +
            " candidates for tensor, pipeline, micro_batch, interleave, schedule, recomputation, sequence_parallel");
  CHECK(searched.report->found.gap == 0);
  // Every combination by itself; the first of the fastest is the plan.
  Time best = 0;
  std::shared_ptr<config::Table> taken;
  std::set<std::uint64_t> programs;
  for (const std::int64_t t : {1, 2, 4, 8})
    for (const std::int64_t p : {1, 2, 4, 8})
      for (const std::int64_t b : {1, 2, 4, 8})
        for (const std::int64_t v : {1, 2})
          for (const char* schedule : {"gpipe", "interleaved-1f1b", "1f1b", "zb-h1", "zb-h2", "dualpipe", "dualpipe-v"})
            for (const char* again : {"none", "full"})
              for (const bool sp : {false, true}) {
                const std::string text = fmt::format(
                    "tensor = {}\npipeline = {}\nmicro_batch = {}\ninterleave = {}\nschedule = \"{}\"\nrecomputation = "
                    "\"{}\"\nsequence_parallel = {}\n",
                    t, p, b, v, schedule, again, sp);
                const Plan plan = job.plan(text);
                if (!job.diagnostics.ok()) continue;
                if (!programs.insert(program::search::key_of(plan.program, Fidelity::simulated)).second) continue;
                const program::Evaluation real = evaluations.one(plan.program);
                REQUIRE(real.feasible);
                if (best != 0 && real.time >= best) continue;
                best = real.time;
                config::Diagnostics read;
                taken = config::parse_toml(text, "one.toml", read);
              }
  const program::search::Fastest& found = searched.report->found;
  CHECK(found.judged.size() == programs.size());
  CHECK(found.ranked.front().evaluation.time == best);
  CHECK(found.tried.size() < found.judged.size() / 2);
  CHECK(config::same_content(*searched.found, *taken));
}

TEST_CASE("what cannot fit is struck out by what it holds for certain, which is never too much") {
  TestJob job = simulated(8, gpt(8, 256, 8, 1024), 8);
  job.machine.device.memory_capacity = Bytes{30'000'000};
  job.evaluator = evaluator_of(job);
  const auto table = config::parse_toml("tensor = \"any\"\npipeline = \"any\"\nrecomputation = \"any\"",
                                        "strategy.toml", job.diagnostics);
  const auto evaluations = job.evaluations();
  const Job seen = job.job_with(evaluations);
  const Searched searched = megatron::kind().search(*table, seen);
  std::int64_t too_large = 0;
  for (const std::int64_t t : {1, 2, 4, 8})
    for (const std::int64_t p : {1, 2, 4, 8})
      for (const char* again : {"none", "selective", "full"}) {
        const Plan plan = job.plan(fmt::format("tensor = {}\npipeline = {}\nrecomputation = \"{}\"", t, p, again));
        if (!job.diagnostics.ok()) continue;
        std::int64_t most = 0;
        for (program::DeviceId device = 0; device < 8; ++device)
          most = std::max(most, program::memory_peak(plan.program, device).total);
        too_large += most > 30'000'000 ? 1 : 0;
      }
  CHECK(too_large > 0);
  CHECK(searched.report->found.count(program::search::Fate::too_large) == too_large);
  // The smallest is named, with what it needs.
  job.machine.device.memory_capacity = Bytes{1'000'000};
  CHECK_THROWS_WITH(megatron::kind().search(*table, seen),
                    Catch::StartsWith("none of ") && Catch::Contains(" fits into memory; the smallest, tensor 8, ") &&
                        Catch::Contains("but has 1.00 MB"));
}

TEST_CASE("open tensor ranks: as many as the heads of each kind of layer are shared out to") {
  // Heads of both kinds are their own: the two that the model says are nobody's.
  TestJob job = simulated(8, mixture(4, 4), 8);
  for (workload::LayerKind& kind : job.model.layer_kinds) kind.kv_heads = kind.heads = 8;
  job.model.heads = job.model.kv_heads = 2;
  job.evaluator = evaluator_of(job);
  const auto table = config::parse_toml("tensor = \"any\"", "strategy.toml", job.diagnostics);
  const auto evaluations = job.evaluations();
  const Searched found = megatron::kind().search(*table, job.job_with(evaluations));
  CHECK(found.report->found.judged.size() == 4);  // 1, 2, 4 and 8
}

TEST_CASE("spare devices: every cut that is accepted is a candidate") {
  // Two nodes of eight have room for two groups of three each: four replicas, not the five thirds of sixteen. A
  // replica's share of 16 is four, of which 1, 2 and 4 are micro-batches.
  TestJob job = simulated(16, gpt(4, 384, 12, 1024), 16);
  const auto table = config::parse_toml("tensor = [3]\nspare_devices = \"idle\"\nmicro_batch = \"any\"",
                                        "strategy.toml", job.diagnostics);
  const auto evaluations = job.evaluations();
  const std::string open = megatron::kind().check(*table, job.job_with(evaluations), job.diagnostics);
  CHECK(job.diagnostics.errors().empty());
  CHECK(open == "3 candidates for tensor, micro_batch");
}

TEST_CASE("open keys that no combination fits, and at transaction level, are refused in a line") {
  TestJob job = simulated(8, gpt(8, 256, 8, 1024), 8);
  const auto evaluations = job.evaluations();
  const auto said = [&](const std::string& text) {
    job.diagnostics = {};
    const auto table = config::parse_toml(text, "strategy.toml", job.diagnostics);
    static_cast<void>(megatron::kind().check(*table, job.job_with(evaluations), job.diagnostics));
    return job.diagnostics.errors();
  };
  CHECK(said("tensor = [3, 5]") ==
        std::vector<std::string>{"strategy.toml:1:10: none of 2 combinations of tensor cuts gpt "
                                 "over the 8 devices of test machine"});
  // What is wrong with the only combination, or with all of them alike, is said as if it were closed.
  const auto of_one = said("tensor = [3]");
  static_cast<void>(job.plan("tensor = 3"));
  CHECK(of_one == job.diagnostics.errors());
  CHECK(said("tensor = \"any\"\nsublayers = \"t3\"") ==
        std::vector<std::string>{"strategy.toml:1:10: \"tensor\" is open, and sublayers = \"t3\" has no lower bound by "
                                 "which a cut could be proven the fastest, allowed: sublayers = \"operators\""});
}

}  // namespace tessera::strategy
