// Mixers with a state on tensor ranks and stages: what is exchanged, what a sequence leaves behind, what is refused.
#include <catch2/catch.hpp>

#include <algorithm>

#include "jobs.hpp"

namespace tessera::strategy {
namespace {
namespace state_space {

using program::CollectiveKind;
using Names = std::vector<std::string>;
using Sizes = std::vector<std::int64_t>;

constexpr std::int64_t h = 512, sequence = 128;

/// Four layers, each a mixer alone: 16 heads of 64 elements in 4 groups, states of 64 x 32.
workload::Model mamba2() {
  workload::Model model = gpt(4, h, 16, 1024);
  model.name = "mamba2";
  model.position = workload::PositionEmbedding::none;
  model.mixer = workload::Mixer::mamba2;
  model.head_dim = 64;
  model.state_size = 32;
  model.state_groups = 4;
  model.conv_width = 4;
  model.scan_chunk = 64;
  model.mlp = false;
  return model;
}

TestJob job_of(std::uint32_t devices, workload::Model model = mamba2()) {
  TestJob job(devices, std::move(model), 8);
  job.workload.sequence = sequence;
  job.machine.device.peak["fp16"] = FlopPerSecond{100'000'000'000'000};
  return job;
}

TEST_CASE("a layer that is a mixer alone gathers and sums once each way") {
  TestJob job = job_of(2);
  const Plan plan = sound_plan(job, "tensor = 2\nsequence_parallel = true");
  CHECK(sizes_of(plan.program, CollectiveKind::all_gather) == Sizes{2 * sequence * h});
  CHECK(sizes_of(plan.program, CollectiveKind::reduce_scatter) == Sizes{2 * sequence * h});
}

/// The same with Mamba: 1024 channels that share 16 + 2 x 8 elements of a token.
workload::Model mamba() {
  workload::Model model = mamba2();
  model.name = "mamba";
  model.mixer = workload::Mixer::mamba;
  model.heads = model.kv_heads = 1024;
  model.head_dim = 1;
  model.state_size = 8;
  model.state_groups = 0;
  model.step_rank = 16;
  model.state_norms = true;
  return model;
}

TEST_CASE("tensor ranks sum what Mamba's channels share, amid the section, each way") {
  TestJob job = job_of(2, mamba());
  const Sizes sums =
      sizes_of(sound_plan(job, "tensor = 2\nsequence_parallel = true").program, CollectiveKind::all_reduce);
  CHECK(std::ranges::count(sums, 2 * sequence * 32) == 1);
  const Plan one = sound_plan(job, "tensor = 1\ndata = 2");
  CHECK(std::ranges::count(sizes_of(one.program, CollectiveKind::all_reduce), 2 * sequence * 32) == 0);
}

TEST_CASE("mixers with a state in stages, replicas and FSDP, again and in two parts") {
  for (const char* keys :
       {"tensor = 2\npipeline = 2\ndata = 2", "tensor = 2\npipeline = 2\ndata = 2\nrecomputation = \"selective\"",
        "pipeline = 2\ndata = 4\nrecomputation = \"full\"", "tensor = 2\ndata = 4\ndata_sharding = \"parameters\"",
        "tensor = 2\npipeline = 4\ndata = 1\nschedule = \"zb-h1\"",
        "tensor = 2\nsequence_parallel = true\nuser_buffers = true\ndata = 4",
        "tensor = 2\ndata = 4\nrecomputed_sections = [\"qkv\", \"attention_core\"]"}) {
    CAPTURE(keys);
    for (const workload::Model& model : {mamba2(), mamba()}) {
      TestJob job = job_of(8, model);
      static_cast<void>(sound_plan(job, keys));
    }
  }
}

TEST_CASE("what a sequence leaves behind has a constant size on each tensor rank") {
  // 4 layers, 8 sequences; on one of two ranks 512 + 2 x 2 x 32 channels of 4 tokens, states of 512 x 32.
  const std::int64_t all = 2 * 4 * 8 * ((512 + 128) * 4 + 512 * 32);
  for (const std::int64_t generated : {16, 64}) {
    TestJob job = job_of(2);
    job.workload.phase = workload::Phase::generation;
    job.workload.generated = generated;
    CHECK(at_peak(sound_plan(job, "tensor = 2").program, 1, program::MemoryCategory::kv_cache) == all);
  }
}

TEST_CASE("cuts that mixers with a state do not know") {
  TestJob job = job_of(8);
  const auto error = [&](const std::string& keys) {
    static_cast<void>(job.plan(keys));
    return job.diagnostics.errors();
  };
  CHECK(error("tensor = 8") == Names{"strategy.toml:1:10: tensor = 8 does not divide the 4 groups of heads of mamba2"});
  CHECK(error("context_parallel = 2\ntensor = 4") ==
        Names{"strategy.toml:1:20: context_parallel = 2 does not go together with workload.flash_attention = false, "
              "whose results cannot be merged, allowed: flash_attention = true",
              "strategy.toml:1:20: model mamba2 has Mamba-2 layers, whose states are not handed from rank to rank, "
              "allowed: context_parallel = 1"});
  CHECK(error("tensor = 4\nsequence_parallel = true\ntensor_rows = 2") ==
        Names{"strategy.toml:3:15: the model has Mamba-2 layers, allowed: tensor_rows = 1"});
  CHECK(error("tensor = 4\nattention = \"whole\"") ==
        Names{"strategy.toml:2:13: the model has Mamba-2 layers, allowed: attention = \"cut\""});
}

}  // namespace state_space
}  // namespace
}  // namespace tessera::strategy
