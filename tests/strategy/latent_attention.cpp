// Latent attention on tensor ranks: what is gathered and summed, what every rank keeps, and what is refused.
#include <catch2/catch.hpp>

#include <algorithm>

#include "jobs.hpp"
#include "tessera/strategy/profile.hpp"

namespace tessera::strategy {
namespace {
namespace latent_attention {

using program::CollectiveKind;
using Names = std::vector<std::string>;
using Sizes = std::vector<std::int64_t>;

constexpr std::int64_t h = 512, compressed = 128 + 64 + 32, sequence = 128;

/// Queries from 128 elements, keys and values from 64, and 32 that positions turn.
TestJob job_of(std::uint32_t devices) {
  workload::Model model = gpt(4, h, 8, 1024);
  model.position = workload::PositionEmbedding::rotary;
  model.qkv_bias = false;
  model.head_dim = 96;
  model.value_dim = 64;
  model.query_rank = 128;
  model.kv_rank = 64;
  model.rotary_dim = 32;
  TestJob job(devices, model, 8);
  job.workload.sequence = sequence;
  return job;
}

TEST_CASE("tensor ranks gather what latent attention compresses, and sum its gradient") {
  TestJob job = job_of(2);
  const Plan plan = sound_plan(job, "tensor = 2\nsequence_parallel = true");
  CHECK(sizes_of(plan.program, CollectiveKind::all_gather) == Sizes{2 * sequence * compressed, 2 * sequence * h});
  CHECK(sizes_of(plan.program, CollectiveKind::reduce_scatter) == Sizes{2 * sequence * compressed, 2 * sequence * h});
  // Without: of the compressed elements' gradient, of activations, of four bytes a token of the loss, and of one norm.
  const Plan whole = sound_plan(job, "tensor = 2");
  const Sizes sums = sizes_of(whole.program, CollectiveKind::all_reduce);
  CHECK(std::ranges::count(sums, 2 * sequence * compressed) == 1);
  CHECK(std::ranges::count(sums, 2 * sequence * h) == 1);
}

TEST_CASE("every tensor rank keeps what latent attention compresses") {
  TestJob job = job_of(2);
  job.workload.phase = workload::Phase::generation;
  job.workload.generated = 32;
  const Plan plan = sound_plan(job, "tensor = 2");
  // 4 layers, 8 sequences of 160 tokens.
  CHECK(at_peak(plan.program, 1, program::MemoryCategory::kv_cache) == 2 * 4 * 8 * (sequence + 32) * (64 + 32));
}

TEST_CASE("model FLOP of prompts and the tokens behind them: those of either") {
  TestJob job = job_of(2);
  const auto flops = [&](workload::Phase phase, std::int64_t generated) {
    job.workload.phase = phase;
    job.workload.generated = generated;
    return sound_plan(job, "tensor = 2").model_flops;
  };
  // The prompt makes the first of 32 tokens. The others meet keys and values that stay compressed.
  const double both = flops(workload::Phase::prompt_and_generation, 32);
  CHECK(both == Approx(flops(workload::Phase::prompt, 32) + flops(workload::Phase::generation, 31)).epsilon(1e-12));
}

TEST_CASE("a profile has the widths of a layer's collectives in turn") {
  TestJob job = job_of(2);
  job.machine.device.peak["fp16"] = FlopPerSecond{100'000'000'000'000};
  const program::search::Evaluations own = job.evaluations();
  const Job whole = job.job_with(own);
  config::Diagnostics diagnostics;
  const auto table = config::parse_toml("tensor = 2\nsequence_parallel = true", "strategy.toml", diagnostics);
  const PipelineProfile profile = megatron::kind().profile(*table, whole);
  Sizes gathered, scattered;
  for (const GroupWork& one : profile.layers.at(0).backward.collectives) {
    Sizes& sizes = one.collective.kind == CollectiveKind::all_gather ? gathered : scattered;
    sizes.push_back(one.collective.bytes.value());
  }
  // Of fc2, of fc1; of the projection, of queries, keys and values.
  const std::int64_t wide = 2 * sequence * h, narrow = 2 * sequence * compressed;
  CHECK(gathered == Sizes{wide, wide, wide, narrow});
  CHECK(scattered == Sizes{wide, narrow});
}

TEST_CASE("buffers of a prompt over latent attention hold queries, keys, values and what is made of them") {
  TestJob job = job_of(1);
  job.workload.phase = workload::Phase::prompt;
  job.workload.global_batch = 1;
  // 8 heads of 96 + 96 + 64 and 64 numbers, beside h + 4 h of the MLP.
  CHECK(at_peak(sound_plan(job, "").program, 0, program::MemoryCategory::buffers) == 2 * sequence * 8 * 320);
  static_assert(8 * 320 == 5 * h);
  job.model.heads = job.model.kv_heads = 16;
  CHECK(at_peak(sound_plan(job, "").program, 0, program::MemoryCategory::buffers) == 2 * sequence * 16 * 320);
}

TEST_CASE("context ranks send keys and values of all heads of latent attention round") {
  // A rank of two has 64 tokens of 8 x 96 numbers of keys and 8 x 64 of values, 2 B each. Forward it sends them once,
  // backward once, and their gradients once, in each of 4 layers and 8 micro-batches; the sum of gradients is an
  // all-reduce of as many bytes each way as there are in its buffer, in 4 B.
  TestJob job = job_of(2);
  job.workload.flash_attention = true;
  const Plan plan = sound_plan(job, "context_parallel = 2");
  constexpr std::int64_t both = 64 * 8 * (96 + 64) * 2;
  const std::int64_t sent =
      static_cast<std::int64_t>(program::totals(plan.program, job.machine, 0).bytes_sent) - 8 * 4 * 3 * both;
  CHECK(sent - 4 * plan.parameters < 1'000);  // padding, and a norm's number
  CHECK(sent >= 4 * plan.parameters);
  CHECK(sound_plan(job, "context_parallel = 2\ncontext_exchange = \"all-to-all\"").parameters == plan.parameters);
  CHECK(sizes_of(sound_plan(job, "context_parallel = 2\ncontext_exchange = \"all-gather\"").program,
                 CollectiveKind::reduce_scatter) == Sizes{2 * 2 * 64 * 8 * 64, 2 * 2 * 64 * 8 * 96});
}

TEST_CASE("cuts that latent attention does not know") {
  TestJob job = job_of(4);
  const auto error = [&](const std::string& keys) {
    static_cast<void>(job.plan("tensor = 4\nsequence_parallel = true\n" + keys));
    return job.diagnostics.errors();
  };
  CHECK(error("user_buffers = true") ==
        Names{"strategy.toml:3:16: latent attention gathers what it compresses, allowed: user_buffers = false"});
  CHECK(error("tensor_rows = 2") ==
        Names{"strategy.toml:3:15: latent attention gathers what it compresses, allowed: tensor_rows = 1"});
  CHECK(error("attention = \"whole\"") ==
        Names{"strategy.toml:3:13: latent attention gathers what it compresses, allowed: attention = \"cut\""});
}

}  // namespace latent_attention
}  // namespace
}  // namespace tessera::strategy
