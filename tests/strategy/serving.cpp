// The largest batch that fits: it does, and one more of what it grows by does not.
#include <catch2/catch.hpp>

#include "jobs.hpp"

namespace tessera::strategy {
namespace {

using workload::Phase;

/// Whether what each device holds fits when the batch is of that size.
bool fits(TestJob job, const std::string& cut, std::int64_t batch) {
  job.workload.global_batch = batch;
  const Plan plan = job.plan(cut);
  REQUIRE(job.diagnostics.errors() == std::vector<std::string>{});
  for (program::DeviceId device = 0; device < plan.program.devices.size(); ++device) {
    if (plan.program.devices[device].streams.empty()) continue;
    if (program::memory_peak(plan.program, device).total > job.machine.device.usable_memory().value()) return false;
  }
  return true;
}

TestJob job_of(Phase phase, std::int64_t batch) {
  TestJob job(8, gpt(8, 512, 8, 1024), batch);
  job.machine.device.memory_capacity = Bytes{300'000'000};
  job.machine.device.memory_reserve = Bytes{7'000'001};
  job.workload.phase = phase;
  job.workload.sequence = 100;
  job.workload.generated = 20;
  return job;
}

std::int64_t largest(TestJob job, const std::string& cut) { return job.plan(cut).served->largest_batch; }

}  // namespace

TEST_CASE("largest batch: by hand on one device") {
  TestJob job(1, gpt(2, 64, 2, 128), 1);
  job.workload.phase = Phase::generation;
  job.workload.sequence = 10;
  job.workload.generated = 6;
  // Weights: 12 h^2 + 13 h a layer, 128 words and 2048 positions of h, a norm of 2 h; in two bytes. A sequence has keys
  // and values of 16 tokens in two layers, and its token's hidden state and MLP, h + 4 h.
  const std::int64_t h = 64, weights = 2 * (2 * (12 * h * h + 13 * h) + (128 + 2048) * h + 2 * h);
  const std::int64_t sequence = 2 * 2 * 2 * 16 * h + 2 * (h + 4 * h);
  CHECK(at_peak(job.plan("").program, 0, program::MemoryCategory::weights) == weights);
  job.machine.device.memory_capacity = Bytes{weights + 5 * sequence};
  CHECK(largest(job, "") == 5);
  job.machine.device.memory_capacity = Bytes{weights + 5 * sequence - 1};
  CHECK(largest(job, "") == 4);
  job.machine.device.memory_capacity = Bytes{weights + sequence - 1};
  CHECK(largest(job, "") == 0);
  job.machine.device.memory_capacity = Bytes{weights - 1};
  CHECK(largest(job, "") == 0);
  // Two that decode one after the other share the room for a token: 2 x 5 caches and one of those.
  job.workload.global_batch = 2;
  job.machine.device.memory_capacity = Bytes{weights + 10 * (sequence - 640) + 640};
  CHECK(largest(job, "micro_batch = 1") == 10);
}

TEST_CASE("largest batch: it fits and one more does not, whatever the phase and the cut") {
  for (const Phase phase : {Phase::prompt, Phase::generation, Phase::prompt_and_generation}) {
    for (const auto& [cut, step] :
         std::vector<std::pair<std::string, std::int64_t>>{{"", 8},
                                                           {"tensor = 8", 1},
                                                           {"tensor = 4\nuneven_heads = \"pad\"", 2},
                                                           {"pipeline = 4\ntensor = 2", 1},
                                                           {"pipeline = 4\nmicro_batch = 3", 6},
                                                           {"tensor = 2\nmicro_batch = 1", 4}}) {
      CAPTURE(static_cast<int>(phase), cut);
      TestJob job = job_of(phase, 48);
      const std::int64_t batch = largest(job, cut);
      REQUIRE(batch > 48);
      CHECK(batch % step == 0);
      CHECK(fits(job, cut, batch));
      CHECK(!fits(job, cut, batch + step));
      // It does not depend on the batch that is asked for.
      job.workload.global_batch = batch;
      CHECK(largest(job, cut) == batch);
    }
  }
}

TEST_CASE("largest batch: a prompt with its tokens cut, and one whose weights are gathered") {
  for (const auto& [cut, step] : std::vector<std::pair<std::string, std::int64_t>>{
           {"tensor = 4\nsequence_parallel = true", 2},
           {"data_sharding = \"parameters\"", 8},
           {"context_parallel = 4", 2},
           {"context_parallel = 4\ncontext_exchange = \"all-gather\"", 2}}) {
    CAPTURE(cut);
    TestJob job = job_of(Phase::prompt, 48);
    job.workload.sequence = 96;
    job.workload.flash_attention = true;
    const std::int64_t batch = largest(job, cut);
    CHECK(fits(job, cut, batch));
    CHECK(!fits(job, cut, batch + step));
  }
}

TEST_CASE("largest batch: tokens of experts are as many as each has, and more of them are on a fuller rank") {
  TestJob job(1, mixture(2, 4), 1);  // h = 512, two experts of 4 h a token
  job.workload.phase = Phase::prompt;
  job.workload.sequence = 64;
  const auto buffers = [&](const std::string& keys) {
    return at_peak(job.plan(keys).program, 0, program::MemoryCategory::buffers);
  };
  CHECK(buffers("") == 2 * 64 * 2 * 5 * 512);
  CHECK(buffers("capacity_factor = 0.5") == 2 * 64 * 5 * 512);  // as many as without experts
}

TEST_CASE("kv cache: of its own datatype in memory, so that more fit") {
  TestJob job = job_of(Phase::generation, 48);
  job.workload.flash_attention = true;
  const std::int64_t before = largest(job, "tensor = 8");
  const std::int64_t cache = at_peak(job.plan("tensor = 8").program, 0, program::MemoryCategory::kv_cache);
  // 8 layers, keys and values of 48 sequences of 120 tokens, a head of 64 numbers.
  CHECK(cache == 2 * 8 * 2 * 48 * 120 * 64);
  for (const std::string datatype : {"fp8", "int8"}) {
    job.workload.kv_cache_datatype = datatype;
    CHECK(at_peak(job.plan("tensor = 8").program, 0, program::MemoryCategory::kv_cache) == cache / 2);
    CHECK(largest(job, "tensor = 8") > before * 19 / 10);
  }
  job.workload.kv_cache_datatype = "fp16";
  CHECK(largest(job, "tensor = 8") == before);
}

}  // namespace tessera::strategy
