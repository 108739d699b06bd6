// Context parallelism: who shares sequences with whom, what a device holds and sends, and what is refused. Times are in
// tests/experiment/shared_sequences.cpp.
#include <catch2/catch.hpp>

#include "jobs.hpp"

namespace tessera::strategy {
namespace {

using program::MemoryCategory;
using Lines = std::vector<std::string>;

/// Two layers of 64 numbers and 4 heads; 64 tokens a sequence.
TestJob small_job(std::uint32_t devices, std::int64_t layers = 2) {
  TestJob job(devices, gpt(layers, 64, 4, 128), 16);
  job.workload.sequence = 64;
  job.workload.flash_attention = true;
  job.machine.device.peak["fp16"] = FlopPerSecond{100'000'000'000'000};
  return job;
}

/// Whether some group of the device has these members.
bool has_group(const program::Program& program, program::DeviceId device,
               const std::vector<program::DeviceId>& members) {
  for (const program::GroupId group : program.devices[device].groups)
    if (group != program::no_group && program.groups[group].members == members) return true;
  return false;
}

}  // namespace

TEST_CASE("context: tensor ranks are neighbours, then context ranks, then replicas, then stages") {
  TestJob job = small_job(16);
  const Plan plan = sound_plan(job, "tensor = 2\ncontext_parallel = 2\npipeline = 2");  // so data is 2
  CHECK(has_group(plan.program, 0, {0, 1}));                                            // tensor ranks
  CHECK(has_group(plan.program, 1, {1, 3, 5, 7}));  // gradients are summed over context ranks of all replicas
  CHECK(has_group(plan.program, 15, {9, 11, 13, 15}));
  // Device 6 is the first tensor and the second context rank of replica 1: its neighbour both ways is 4, and 14 has the
  // other stage.
  const std::vector<program::DeviceId> peers = plan.program.devices[6].peers;
  CHECK(peers == std::vector<program::DeviceId>{14, 14, 4, 4});
  CHECK(plan.program.alike.size() == 3);
  CHECK(plan.program.alike[0].parts[1] == std::vector<program::DeviceId>{4, 5, 6, 7, 12, 13, 14, 15});
  CHECK(has_group(
      sound_plan(job, "tensor = 2\ncontext_parallel = 2\npipeline = 2\ncontext_exchange = \"all-gather\"").program, 6,
      {4, 6}));
}

TEST_CASE("context: parameters, tokens and model FLOP are the job's, however its sequences are cut") {
  TestJob job = small_job(4);
  const Plan whole = sound_plan(job, "");
  for (const std::string exchange : {"ring", "all-to-all", "all-gather"}) {
    const Plan cut = sound_plan(job, "context_parallel = 4\ncontext_exchange = \"" + exchange + "\"");
    CHECK(cut.parameters == whole.parameters);
    CHECK(cut.tokens == whole.tokens);
    CHECK(cut.model_flops == whole.model_flops);
    CHECK(cut.hardware_flops == Approx(whole.hardware_flops).epsilon(1e-12));
  }
}

TEST_CASE("context: a rank of four holds all weights, a quarter of the optimizer state, and a quarter of activations") {
  TestJob job = small_job(8);
  job.model.vocabulary = 4096;  // so that memory is fullest in the head
  const auto held = [&](const std::string& keys, MemoryCategory category) {
    return at_peak(sound_plan(job, keys + "distributed_optimizer = true\nmicro_batch = 2\n").program, 0, category);
  };
  const std::string two = "data = 8\n", shared = "data = 2\ncontext_parallel = 4\n";
  for (const MemoryCategory same :
       {MemoryCategory::weights, MemoryCategory::gradients, MemoryCategory::optimizer_state})
    CHECK(held(shared, same) == held(two, same));
  CHECK(4 * held(shared, MemoryCategory::activations) == held(two, MemoryCategory::activations));
}

TEST_CASE("context: room for keys and values that go round is taken while the core runs") {
  // One layer, a sequence on four ranks: 16 tokens of 64 numbers in 2 B are 2,048 B. Forward, keys and values of all
  // four, and four outputs, of which those that the second half of the queries has alone are halves. Rank 3 has none of
  // these. Backward, two places for keys, values and gradients of both, and a gradient of the queries.
  constexpr std::int64_t tensor = 16 * 64 * 2;
  TestJob job = small_job(4, 1);
  job.workload.phase = workload::Phase::prompt;
  const auto buffers = [&](const std::string& keys, program::DeviceId device) {
    return at_peak(sound_plan(job, "micro_batch = 1\ncontext_parallel = 4\n" + keys).program, device,
                   MemoryCategory::buffers) -
           at_peak(sound_plan(job, "micro_batch = 1\ndata = 4").program, device, MemoryCategory::buffers) /
               4;  // what else there is, by tokens
  };
  CHECK(buffers("", 3) == (4 * 2 + 4) * tensor);
  CHECK(buffers("", 0) == 4 * 2 * tensor + (2 + 3) * tensor / 2);
  CHECK(buffers("context_exchange = \"all-to-all\"", 0) == 2 * tensor);
  CHECK(buffers("context_exchange = \"all-gather\"", 0) == 3 * 4 * tensor);
  job.workload.phase = workload::Phase::training;
  CHECK(at_peak(sound_plan(job, "context_parallel = 4").program, 3, MemoryCategory::buffers) == (2 * 4 + 1) * tensor);
}

TEST_CASE("context: what a rank sends in a prompt") {
  // 16 sequences through two layers; 32 tokens of 64 numbers in 2 B are 4,096 B.
  constexpr std::int64_t tensor = 32 * 64 * 2, times = 2 * 16;
  TestJob job = small_job(2);
  job.workload.phase = workload::Phase::prompt;
  CHECK(sent_by(job, "context_parallel = 2") == times * 2 * tensor);
  CHECK(sent_by(job, "context_parallel = 2\ncontext_exchange = \"all-to-all\"") == times * 4 * tensor / 2);
  CHECK(sent_by(job, "context_parallel = 2\ncontext_exchange = \"all-gather\"") == times * 2 * tensor);
  // Keys and values of one head of four: grouped queries send a quarter.
  job.model.kv_heads = 1;
  CHECK(sent_by(job, "context_parallel = 2") == times * 2 * tensor / 4);
  // What is cached is each rank's own part.
  job.model.kv_heads = 4;
  CHECK(at_peak(sound_plan(job, "context_parallel = 2").program, 0, MemoryCategory::kv_cache) == times * 2 * tensor);
}

TEST_CASE("context: a window leaves the last tokens of a prompt in the cache, where they are") {
  // 128 tokens in pieces of 16: the first rank has the first and the last one.
  TestJob job = small_job(4);
  job.workload.sequence = 128;
  job.workload.phase = workload::Phase::prompt;
  const auto tokens = [&](std::int64_t window) {
    job.model.sliding_window = window;
    const Plan plan = sound_plan(job, "context_parallel = 4\ncontext_exchange = \"all-gather\"");
    return at_peak(plan.program, 0, MemoryCategory::kv_cache) / (2 * 16 * 2 * 2 * 64);
  };
  CHECK(tokens(0) == 32);
  CHECK(tokens(10) == 10);
  CHECK(tokens(100) == 16);
  CHECK(tokens(120) == 16 + 8);  // of 128, the first 8 are out
}

TEST_CASE("context: what a rank sends when it trains") {
  // Forward keys and values, backward these and their gradients; then 4 B of each parameter to and fro.
  constexpr std::int64_t tensor = 32 * 64 * 2, times = 2 * 16;
  constexpr std::int64_t parameters = 2 * 49'984 + 139'264 + 128;
  TestJob job = small_job(2);
  CHECK(sent_by(job, "context_parallel = 2") == times * 6 * tensor + 4 * parameters);
  CHECK(sent_by(job, "context_parallel = 2\nrecomputation = \"selective\"") == times * 8 * tensor + 4 * parameters);
}

TEST_CASE("context: sound programs with everything that it goes together with") {
  for (const std::string exchange : {"ring", "all-to-all", "all-gather"}) {
    for (const std::string cut :
         {"tensor = 2\nsequence_parallel = true\npipeline = 2", "pipeline = 4\nschedule = \"gpipe\"",
          "pipeline = 2\ninterleave = 4", "recomputation = \"full\"", "recomputation = \"selective\"\npipeline = 2",
          "recomputed_sections = [\"attention_core\"]", "data_sharding = \"parameters\"\npipeline = 2",
          "distributed_optimizer = true\noverlap_gradient_reduction = true\noverlap_parameter_gathering = true",
          "tensor = 2\nsequence_parallel = true\nuser_buffers = true", "data = 1\nmicro_batch = 4\npipeline = 4"}) {
      CAPTURE(exchange, cut);
      TestJob job = small_job(8, 8);
      static_cast<void>(sound_plan(job, "context_parallel = 2\ncontext_exchange = \"" + exchange + "\"\n" + cut));
    }
  }
}

TEST_CASE("context: experts are spread over tensor, context and data ranks alike") {
  TestJob job(8, mixture(4, 8), 16);
  job.workload.sequence = 64;
  job.workload.flash_attention = true;
  // Each of eight devices has one of the experts, and gradients of experts are nobody else's.
  const Plan plan = sound_plan(
      job, "tensor = 2\nsequence_parallel = true\ncontext_parallel = 2\nexpert_parallel = 8\nexpert_tensor = 1");
  CHECK(has_group(plan.program, 5, {0, 1, 2, 3, 4, 5, 6, 7}));
  static_cast<void>(sound_plan(job, "context_parallel = 4\nexpert_parallel = 8"));
  static_cast<void>(job.plan("context_parallel = 4\nexpert_parallel = 8\ntensor = 2\nexpert_tensor = 2"));
  CHECK(job.diagnostics.errors() ==
        Lines{"strategy.toml:2:19: expert_parallel = 8 does not divide the 4 context ranks of data-parallel replicas"});
}

TEST_CASE("context: what cannot be is refused in a line") {
  TestJob job = small_job(8);
  const auto errors = [&](const std::string& keys) {
    (void)job.plan("context_parallel = 4\n" + keys);
    return job.diagnostics.errors();
  };
  CHECK(errors("context_parallel = 0").size() == 1);
  CHECK(errors("data = 4") == Lines{"strategy.toml:2:8: tensor 1 x context_parallel 4 x pipeline 1 x data 4 = 16 "
                                    "devices, but machine test machine has 8"});
  CHECK(errors("attention = \"whole\"\ntensor = 2") ==
        Lines{"strategy.toml:2:13: context_parallel = 4 does not go together with attention = \"whole\", allowed: "
              "attention = \"cut\""});
  CHECK(errors("weight_streaming = \"devices\"") ==
        Lines{"strategy.toml:2:20: context_parallel = 4 does not go together with weight_streaming, allowed: "
              "weight_streaming = \"off\""});
  CHECK(errors("pipeline = 2\nloans = [{from = 0, to = 1}]") ==
        Lines{"strategy.toml:3:9: context_parallel = 4 does not go together with loans, allowed: no loans, or "
              "context_parallel = 1"});
  CHECK(
      errors("tensor = 2\ntensor_rows = 2\nsequence_parallel = true") ==
      Lines{
          "strategy.toml:3:15: context_parallel = 4 does not go together with tensor_rows, allowed: tensor_rows = 1"});
  const std::string by_heads = "context_exchange = \"all-to-all\"";
  CHECK(
      errors("tensor = 2\n" + by_heads) ==
      Lines{"strategy.toml:3:20: \"all-to-all\" deals out the 2 heads of a tensor rank to context_parallel = 4 ranks, "
            "which does not divide them, allowed: \"ring\", \"all-gather\""});
  job.model.kv_heads = 2;
  CHECK(
      errors(by_heads) ==
      Lines{"strategy.toml:2:20: \"all-to-all\" deals out the 2 key-value heads of a tensor rank to context_parallel = "
            "4 ranks, which does not divide them, allowed: \"ring\", \"all-gather\""});
  CHECK(errors("").empty());
  job.model.kv_heads = 4;
  job.model.sliding_window = 8;
  CHECK(errors("") == Lines{"strategy.toml:1:1: the ring has no windows of attention, and model gpt has some, allowed: "
                            "\"all-gather\", \"all-to-all\""});
  CHECK(errors(by_heads).empty());
  job.model.sliding_window = 0;
  job.workload.sequence = 60;
  CHECK(errors("") == Lines{"strategy.toml:1:20: workload.sequence = 60 is not a multiple of 2 x context_parallel = 8: "
                            "each rank has two pieces of it"});
  job.workload.sequence = 8;
  job.workload.flash_attention = false;
  CHECK(errors("") == Lines{"strategy.toml:1:20: context_parallel = 4 does not go together with "
                            "workload.flash_attention = false, whose results cannot be merged, allowed: "
                            "flash_attention = true"});
  job.workload.flash_attention = true;
  CHECK(errors("tensor = 2\nsequence_parallel = true").empty());
  job.workload.sequence = 4;
  (void)job.plan("context_parallel = 2\ntensor = 4\nsequence_parallel = true");
  CHECK(job.diagnostics.errors() == Lines{"strategy.toml:3:21: tensor = 4 is more than the 2 tokens of a sequence on a "
                                          "context-parallel rank"});
  job.workload.sequence = 8;
  job.workload.phase = workload::Phase::generation;
  CHECK(errors("") == Lines{"strategy.toml:1:20: context_parallel = 4 does not go together with workload.phase = "
                            "\"generation\", one token at a time, allowed: context_parallel = 1"});
  job.workload.phase = workload::Phase::training;
  (void)job.plan("context_exchange = \"all-gather\"");
  CHECK(job.diagnostics.warnings() ==
        Lines{"strategy.toml:1:20: context_exchange has no effect with context_parallel = 1"});
}

}  // namespace tessera::strategy
