// Megatron's open keys, with the simulator behind them.
#include <catch2/catch.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
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
  keys += fmt::format("sequence_parallel = {}\ndistributed_optimizer = {}\n", yes(), yes());
  keys += draw.of({"recomputation = \"none\"\n", "recomputation = \"selective\"\n", "recomputation = \"full\"\n",
                   "recomputation = \"full\"\nrecomputed_layers = 1\n",
                   "recomputation = \"full\"\nrecomputed_layers = 2\nrecomputation_method = \"uniform\"\n",
                   "recomputed_sections = [\"qkv\", \"attention_core\"]\n",
                   "recomputed_sections = [\"mlp_norm\"]\nrecomputed_layers = 1\n"});
  keys += fmt::format("overlap_gradient_reduction = {}\noverlap_tensor_communication = {}\n", yes(), yes());
  const char* schedule =
      draw.of({"auto", "auto", "gpipe", "combined-1f1b", "combined-1f1b", "zb-h1", "zb-h2", "dualpipe", "dualpipe-v"});
  keys += fmt::format("schedule = \"{}\"\n", schedule);
  if (draw.of({0, 0, 1}) == 1)
    keys +=
        fmt::format("data_sharding = \"{}\"\ngather_ahead = {}\nreshard_after_forward = {}\nshard_ranks = {}\n",
                    draw.of({"parameters", "parameters", "gradients"}), draw.of({0, 1, 2}), yes(), draw.of({0, 0, 2}));
  else
    keys += fmt::format("overlap_parameter_gathering = {}\n", yes());
  if (draw.of({0, 0, 1}) == 1) {
    job.workload.flash_attention = true;
    keys +=
        fmt::format("context_parallel = 2\ncontext_exchange = \"{}\"\n", draw.of({"ring", "all-to-all", "all-gather"}));
  }
  if (experts && draw.of({0, 1}) == 1) {
    job.model.layer_kinds[1].shared_experts = 1;
    job.model.layer_kinds[1].shared_ffn_hidden = 512;
    keys += fmt::format("overlap_shared_experts = {}\n", yes());
  }
  if (experts)
    keys += fmt::format("expert_parallel = {}\nexpert_imbalance = {}\nexpert_tensor = {}\nexpert_dispatch = \"{}\"\n",
                        draw.of({1, 2, 4}), draw.of({0.0, 0.4}), draw.of({0, 0, 1}),
                        draw.of({"copies", "copies", "once-a-node"}));
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

namespace {

/// An open key: what of it is tried one by one, and how the table leaves it open.
struct Tried {
  std::string key;
  std::vector<std::string> values;
  std::string open = "\"any\"";
};

/// All combinations, as text of a table.
std::vector<std::string> combinations(const std::string& given, const std::vector<Tried>& keys) {
  std::vector<std::string> texts = {given};
  for (const Tried& one : keys) {
    std::vector<std::string> longer;
    for (const std::string& text : texts)
      for (const std::string& value : one.values) longer.push_back(fmt::format("{}{} = {}\n", text, one.key, value));
    texts = std::move(longer);
  }
  return texts;
}

/// Every program that these combinations come to, once, by itself.
struct OneByOne {
  std::set<std::uint64_t> programs;
  std::int64_t too_large = 0;
  Time best = 0;
};

OneByOne one_by_one(TestJob& job, const std::vector<std::string>& texts) {
  OneByOne all;
  const auto evaluations = job.evaluations();
  for (const std::string& text : texts) {
    const Plan plan = job.plan(text);
    if (!job.diagnostics.ok()) continue;
    if (!all.programs.insert(program::search::key_of(plan.program, Fidelity::simulated)).second) continue;
    const program::Evaluation real = evaluations.one(plan.program);
    all.too_large += real.feasible ? 0 : 1;
    if (real.feasible && (all.best == 0 || real.time < all.best)) all.best = real.time;
  }
  return all;
}

program::search::Fastest searched(TestJob& job, const std::string& given, const std::vector<Tried>& keys) {
  std::string text = given;
  for (const Tried& one : keys) text += fmt::format("{} = {}\n", one.key, one.open);
  config::Diagnostics read;
  const auto table = config::parse_toml(text, "strategy.toml", read);
  const auto evaluations = job.evaluations();
  const Job seen = job.job_with(evaluations);
  static_cast<void>(megatron::kind().check(*table, seen, read));
  CAPTURE(text, read.errors());
  REQUIRE(read.ok());
  const Searched searched = megatron::kind().search(*table, seen);
  CHECK(searched.report->found.gap == 0);
  // What is found stands for what is open, and is run as it stands.
  const auto whole = config::clone(*table);
  config::merge(*whole, *searched.found);
  const Plan plan = megatron::kind().program(*whole, seen);
  CHECK(evaluations.one(plan.program).time == searched.report->found.ranked.front().evaluation.time);
  return searched.report->found;
}

/// The search finds what trying every combination finds, and has each program once.
void compare(TestJob& job, const std::string& given, const std::vector<Tried>& keys) {
  job.evaluator = evaluator_of(job);
  const OneByOne all = one_by_one(job, combinations(given, keys));
  REQUIRE(all.best > 0);
  const program::search::Fastest found = searched(job, given, keys);
  CHECK(found.judged.size() == all.programs.size());
  CHECK(found.count(program::search::Fate::too_large) == all.too_large);
  CHECK(found.ranked.front().evaluation.time == all.best);
}

const std::vector<std::string> no_and_yes = {"false", "true"};

}  // namespace

TEST_CASE("open keys of experts: the search finds what trying every combination finds") {
  TestJob job = simulated(8, mixture(4, 4), 8);
  job.machine = program::nodes_of(8, 4);
  job.machine.device.peak["fp16"] = FlopPerSecond{10'000'000'000'000};
  job.machine.device.memory_bandwidth = BytesPerSecond{1'000'000'000'000};
  job.machine.device.memory_capacity = Bytes{200'000'000};
  job.workload.flash_attention = true;
  compare(job, "sequence_parallel = true\n",
          {{"tensor", {"1", "2", "4", "8"}},
           {"pipeline", {"1", "2"}, "[1, 2]"},
           {"context_parallel", {"1", "2", "4", "8"}},
           {"context_exchange", {"\"ring\"", "\"all-to-all\"", "\"all-gather\""}},
           {"expert_parallel", {"1", "2", "4"}},
           {"expert_tensor", {"0", "1", "2", "4", "8"}},
           {"expert_dispatch", {"\"copies\"", "\"once-a-node\""}}});
}

TEST_CASE("open keys of what is cut over replicas: the search finds what trying every combination finds") {
  for (const std::int64_t capacity : {1'000'000'000, 40'000'000}) {
    TestJob job = simulated(8, gpt(8, 256, 8, 1024), 16);
    job.machine.device.memory_capacity = Bytes{capacity};
    // Ahead of the units of a stage of eight layers come none, 1, 2 or 4; of two such stages none, 1 or 2.
    compare(job, "pipeline = 1\n",
            {{"tensor", {"1", "2"}, "[1, 2]"},
             {"distributed_optimizer", no_and_yes},
             {"overlap_gradient_reduction", no_and_yes},
             {"overlap_parameter_gathering", no_and_yes},
             {"data_sharding", {"\"auto\"", "\"gradients\"", "\"parameters\""}},
             {"shard_ranks", {"0", "2", "4"}},
             {"group_reduction", {"\"each-micro-batch\"", "\"last-micro-batch\""}},
             {"gather_ahead", {"0", "1", "2", "4"}},
             {"reshard_after_forward", no_and_yes}});
  }
}

TEST_CASE("open keys of what runs again: the search finds what trying every combination finds") {
  for (const std::int64_t capacity : {1'000'000'000, 60'000'000, 45'000'000}) {
    TestJob job = simulated(4, gpt(8, 256, 8, 1024), 8, 128);
    job.machine.device.memory_capacity = Bytes{capacity};
    compare(job, "recomputation = \"full\"\ndata = 1\n",
            {{"pipeline", {"1", "2", "4"}, "[1, 2, 4]"},
             {"tensor", {"1", "2", "4"}, "[1, 2, 4]"},
             {"recomputation_method", {"\"block\"", "\"uniform\""}},
             {"recomputed_layers", {"0", "1", "2", "3", "4", "5", "6", "7", "8"}}});
  }
}

namespace {

struct Measured {
  Time time = 0;
  std::int64_t memory = 0;  ///< B, of the fullest device
};

/// Every set of these sections that the model's layers can run again, and those with a name, in each of these cuts.
std::vector<Measured> all_sets(TestJob& job, const std::vector<std::string>& cuts,
                               const std::vector<std::string>& sections) {
  std::vector<Measured> found;
  const auto evaluations = job.evaluations();
  const auto add = [&](const std::string& text) {
    const Plan plan = job.plan(text);
    if (!job.diagnostics.ok()) return;
    const program::Evaluation real = evaluations.one(plan.program);
    found.push_back({real.time, real.most_memory()});
  };
  for (const std::string& cut : cuts) {
    for (const char* named : {"none", "selective", "full"})
      add(fmt::format("{}recomputed_sections = [\"{}\"]\n", cut, named));
    for (std::uint32_t bits = 1; bits < 1U << sections.size(); ++bits) {
      std::string names;
      for (std::size_t i = 0; i < sections.size(); ++i)
        if ((bits >> i & 1U) != 0) names += sections[i] + ", ";
      add(fmt::format("{}recomputed_sections = [{}]\n", cut, names));
    }
  }
  return found;
}

/// Of each of several amounts of memory the search finds the fastest set of all.
void compare_sets(TestJob& job, const std::string& given, const std::vector<std::string>& sections) {
  job.evaluator = evaluator_of(job);
  const std::vector<Measured> all = all_sets(job, {given + "pipeline = 1\n", given + "pipeline = 2\n"}, sections);
  const auto [least, most] = std::ranges::minmax(all, {}, &Measured::memory);
  REQUIRE(least.memory < most.memory);
  for (int step = 0; step <= 8; ++step) {
    const std::int64_t room = least.memory + (most.memory - least.memory) * step / 8;
    CAPTURE(given, room);
    job.machine.device.memory_capacity = Bytes{room};
    job.evaluator = evaluator_of(job);
    Time best = std::numeric_limits<Time>::max();
    for (const Measured& one : all)
      if (one.memory <= room) best = std::min(best, one.time);
    const program::search::Fastest found =
        searched(job, given, {{"pipeline", {}, "[1, 2]"}, {"recomputed_sections", {}}});
    CHECK(found.judged.size() < all.size() / 2);
    CHECK(found.ranked.front().evaluation.time == best);
  }
}

}  // namespace

TEST_CASE("open sets of sections: among those that no other one beats is the fastest of all, whatever fits") {
  const std::vector<std::string> dense = {
      "\"attention_norm\"", "\"qkv\"", "\"attention_core\"", "\"projection\"", "\"attention_residual\"",
      "\"mlp_norm\"",       "\"fc1\"", "\"activation\"",     "\"fc2\"",        "\"mlp_residual\""};
  TestJob job = simulated(4, gpt(4, 256, 8, 1024), 8, 128);
  compare_sets(job, "tensor = 2\nsequence_parallel = true\n", dense);
  TestJob flash = simulated(4, gpt(4, 256, 8, 1024), 8, 128);
  flash.workload.flash_attention = true;
  compare_sets(flash, "tensor = 1\n", dense);
  TestJob experts = simulated(4, mixture(4, 4), 8, 128);
  compare_sets(
      experts, "tensor = 2\nexpert_parallel = 1\n",
      {"\"attention_norm\"", "\"qkv\"", "\"attention_core\"", "\"projection\", \"attention_residual\"", "\"mlp_norm\"",
       "\"router\", \"dispatch\", \"fc1\", \"activation\", \"fc2\", \"combine\"", "\"mlp_residual\""});
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
