// Context parallelism on a machine whose messages are known by hand: what an iteration waits for.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>

#include "ring_of_replicas.hpp"

namespace tessera::strategy {
namespace {

/// Each kernel of attention takes so long, backward twice that; nothing else takes time.
class PerAttention final : public workload::CostModel {
 public:
  explicit PerAttention(Time forward) : forward_(forward) {}
  Time time(const workload::Operator& op, const machine::DeviceSpec&) const override {
    if (op.kind != workload::OperatorKind::attention) return 0;
    return op.name == "attention" ? forward_ : 2 * forward_;
  }

 private:
  Time forward_;
};

// A sequence of 64 tokens of 64 numbers in 2 B, on devices of a ring of 1 GB/s, 1 ns a byte, and 1 us.
Time time_of(std::uint32_t ranks, Time forward, const std::string& extra, workload::Phase phase,
             const workload::Model* model = nullptr) {
  TestJob job = ring_job(0, 1);
  if (model != nullptr) job.model = *model;
  job.machine = program::machine_of("kind = \"ring\"\ndevices = " + std::to_string(ranks) +
                                    "\nbandwidth = \"1 GB/s\"\nlatency = \"1 us\"\n");
  job.machine.device.memory_bandwidth = BytesPerSecond{1'000'000'000'000};
  job.machine.device.memory_capacity = Bytes{1'000'000'000};
  job.model.layers = 1;
  job.workload.global_batch = 1;
  job.workload.flash_attention = true;
  job.workload.phase = phase;
  job.cost = std::make_shared<PerAttention>(forward);
  Plan plan = job.plan("context_parallel = " + std::to_string(ranks) + "\n" + extra);
  REQUIRE(job.diagnostics.errors() == std::vector<std::string>{});
  plan.program.free_reductions = true;
  CHECK(program::check_program(plan.program, job.machine) == std::vector<std::string>{});
  const Time time = result_of(job, plan, sim::Laws::all).results.iteration_time;
  CHECK(result_of(job, plan, sim::Laws::none).results.iteration_time == time);
  return time;
}

Time prompt(std::uint32_t ranks, Time forward, const std::string& extra = "") {
  return time_of(ranks, forward, extra, workload::Phase::prompt);
}
/// Without the sum of gradients: a layer of 49,984 parameters, an embedding of 139,264, and a norm of 128, in 4 B. Each
/// of two ranks sends one half, and then the other one that it has added to.
Time training(Time forward, const std::string& extra = "") {
  const Time sum = 2 * (us + (49'984 + 139'264 + 128) * 4 / 2 * 1000);
  return time_of(2, forward, extra, workload::Phase::training) - sum;
}

// Keys and values of 32 tokens, 8,192 B, to the neighbour; of 16 tokens, 4,096 B; keys alone of 32 tokens.
constexpr Time both = us + 8'192'000, half = us + 4'096'000, own_keys = us + 4'096'000;

}  // namespace

TEST_CASE("shared sequences: a ring's exchanges hide behind attention, or attention waits for them") {
  // Two ranks: their own keys first, while the others come, then those.
  CHECK(prompt(2, 20 * us) == 20 * us + 20 * us);
  CHECK(prompt(2, 2 * us) == both + 2 * us);
  // Four ranks: three exchanges, each of which begins when the one before is over.
  CHECK(prompt(4, 20 * us) == 4 * 20 * us);
  CHECK(prompt(4, 2 * us) == 3 * half + 2 * us);
}

TEST_CASE("shared sequences: backward, gradients go home beside the last step and are added behind it") {
  // Two ranks: keys and values go back beside the first step, their gradients beside the second one.
  CHECK(training(20 * us) == (20 + 20) * us + (40 + 40) * us);
  CHECK(training(2 * us) == both + 2 * us + 2 * both);
  // With 5 us the exchange hides behind a step backward, 10 us, and not forward.
  CHECK(training(5 * us) == both + 5 * us + 2 * 10 * us);
}

TEST_CASE("shared sequences: what runs again sends its keys and values round again") {
  CHECK(training(2 * us, "recomputation = \"selective\"") == 2 * (both + 2 * us) + 2 * both);
  CHECK(training(20 * us, "recomputation = \"full\"") == 2 * 40 * us + 80 * us);
}

TEST_CASE("shared sequences: heads are exchanged for tokens before attention and behind it") {
  // Half of 4,096 B each of Q, K, V and the output go to the other rank.
  constexpr Time a = us + 2'048'000;
  const std::string by_heads = "context_exchange = \"all-to-all\"";
  CHECK(prompt(2, 20 * us, by_heads) == 3 * a + 20 * us + a);
  CHECK(training(20 * us, by_heads) == 4 * a + 20 * us + 4 * a + 40 * us);
}

TEST_CASE("shared sequences: keys and values are gathered before attention of two pieces, and gradients scattered") {
  const std::string gathered = "context_exchange = \"all-gather\"";
  CHECK(prompt(2, 20 * us, gathered) == 2 * own_keys + 2 * 20 * us);
  CHECK(training(20 * us, gathered) == 2 * own_keys + 2 * 20 * us + 2 * own_keys + 2 * 40 * us + 2 * own_keys);
}

TEST_CASE("shared sequences: keys and values of latent attention are exchanged as those of all heads, of two sizes") {
  // Four heads of 16 + 8 numbers of queries and keys and 16 of values. Of the 32 tokens of a rank 6,144 B of keys, and
  // of queries, and 4,096 B of values, and of the output.
  workload::Model model = ring_job(0, 1).model;
  model.position = workload::PositionEmbedding::rotary;
  model.qkv_bias = false;
  model.head_dim = 24;
  model.value_dim = 16;
  model.rotary_dim = 8;
  model.kv_rank = 32;
  const auto prompt_of = [&](Time forward, const std::string& extra) {
    return time_of(2, forward, extra, workload::Phase::prompt, &model);
  };
  // A layer of 64 x 96 weights that make queries, 64 x 40 that compress, a norm of 64, 32 x 128 that make keys and
  // values, 64 x 64 + 64 of the output, 33,088 of the MLP and two norms of 256; an embedding of 8,192, a norm of 128.
  constexpr std::int64_t parameters = 6'144 + 2'560 + 64 + 4'096 + 4'160 + 33'088 + 256 + 8'192 + 128;
  const auto training_of = [&](Time forward, const std::string& extra) {
    return time_of(2, forward, extra, workload::Phase::training, &model) - 2 * (us + parameters * 4 / 2 * 1000);
  };
  constexpr Time latent = us + 10'240'000;
  CHECK(prompt_of(20 * us, "") == 40 * us);
  CHECK(prompt_of(2 * us, "") == latent + 2 * us);
  CHECK(training_of(2 * us, "") == latent + 2 * us + 2 * latent);
  // Half of each goes to the other rank: keys and queries, values and the output.
  constexpr Time wide = us + 3'072'000, narrow = us + 2'048'000;
  const std::string by_heads = "context_exchange = \"all-to-all\"", gathered = "context_exchange = \"all-gather\"";
  CHECK(prompt_of(20 * us, by_heads) == 2 * wide + 2 * narrow + 20 * us);
  CHECK(training_of(20 * us, by_heads) == 2 * (2 * wide + 2 * narrow) + 20 * us + 40 * us);
  constexpr Time keys = us + 6'144'000, values = us + 4'096'000;
  CHECK(prompt_of(20 * us, gathered) == keys + values + 40 * us);
  CHECK(training_of(20 * us, gathered) == 3 * (keys + values) + 40 * us + 80 * us);
}

TEST_CASE("shared sequences: a search that may share them finds the fastest cut of all") {
  TestJob job = ring_job(0, 1);
  job.model = gpt(4, 64, 4, 128);
  job.workload.global_batch = 2;
  job.workload.flash_attention = true;
  job.cost = std::make_shared<PerAttention>(20 * us);
  job.evaluator = sim::make_evaluator(job.machine, *job.cost);
  const auto evaluations = job.evaluations();
  Time best = std::numeric_limits<Time>::max();
  std::size_t cuts = 0;
  for (const int tensor : {1, 2, 4}) {
    for (const int context : {1, 2, 4}) {
      for (const int pipeline : {1, 2, 4}) {
        const Plan plan =
            job.plan(fmt::format("tensor = {}\ncontext_parallel = {}\npipeline = {}", tensor, context, pipeline));
        if (!job.diagnostics.ok()) continue;
        ++cuts;
        best = std::min(best, evaluations.one(plan.program).time);
      }
    }
  }
  const auto table = config::parse_toml("tensor = \"any\"\ncontext_parallel = \"any\"\npipeline = \"any\"",
                                        "strategy.toml", job.diagnostics);
  job.diagnostics = {};
  const Searched found = megatron::kind().search(*table, job.job_with(evaluations));
  CHECK(found.report->found.judged.size() == cuts);
  CHECK(found.report->found.ranked.front().evaluation.time == best);
}

}  // namespace tessera::strategy
