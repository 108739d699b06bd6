// Forward passes layer by layer beside backward passes, as programs. How long they take is in
// tests/experiment/combined_passes.cpp.
#include <catch2/catch.hpp>

#include "strategy/jobs.hpp"

namespace tessera::strategy::combined_programs {
namespace {

using program::MemoryCategory;

Plan plan_of(TestJob& job, const std::string& keys) {
  Plan plan = job.plan(keys);
  CAPTURE(keys);
  REQUIRE(job.diagnostics.errors() == std::vector<std::string>{});
  REQUIRE(program::check_program(plan.program, job.machine) == std::vector<std::string>{});
  return plan;
}

TestJob job_of(std::int64_t layers) {
  TestJob job(16, mixture(layers, 4), 64);
  job.workload.sequence = 128;
  job.machine.device.peak["fp16"] = FlopPerSecond{10'000'000'000'000};
  return job;
}

std::string error_of(TestJob job, const std::string& keys) {
  static_cast<void>(job.plan("schedule = \"combined-1f1b\"\nexpert_parallel = 4\n" + keys));
  return job.diagnostics.errors().empty() ? "" : job.diagnostics.errors().front();
}

}  // namespace

TEST_CASE("combined 1F1B: sound programs that compute and send what 1F1B does") {
  for (const std::string cut :
       {"expert_parallel = 4\n", "expert_parallel = 4\nrecomputation = \"selective\"\n",
        "expert_parallel = 4\npipeline = 2\ninterleave = 2\n",
        "expert_parallel = 2\npipeline = 4\ninterleave = 2\noverlap_gradient_reduction = true\n"
        "distributed_optimizer = true\noverlap_parameter_gathering = true\n",
        "expert_parallel = 2\ntensor = 2\npipeline = 2\ninterleave = 2\nexpert_imbalance = 0.3\n",
        "expert_parallel = 2\ntensor = 2\nsequence_parallel = true\nexpert_tensor = 1\n",
        "expert_parallel = 4\nexpert_dispatch = \"once-a-node\"\n",
        "expert_parallel = 2\npipeline = 2\ninterleave = 2\nstage_layers = [1, 2, 3, 2]\n"}) {
    TestJob job = job_of(8);
    const Plan in_turn = plan_of(job, cut), combined = plan_of(job, "schedule = \"combined-1f1b\"\n" + cut);
    const Plan delayed = plan_of(job, "schedule = \"combined-1f1b\"\ndelay_weight_gradients = true\n" + cut);
    CHECK(combined.hardware_flops == in_turn.hardware_flops);
    CHECK(delayed.hardware_flops == in_turn.hardware_flops);
    CHECK(program::totals(combined.program, job.machine, 0).bytes_sent ==
          program::totals(in_turn.program, job.machine, 0).bytes_sent);
    CHECK(combined.program.devices[0].streams.size() == in_turn.program.devices[0].streams.size() + 1);
  }
}

TEST_CASE("combined 1F1B: what a layer keeps comes while what another micro-batch kept goes") {
  // So at most what one of four layers keeps comes on top.
  TestJob job = job_of(4);
  const auto kept = [&](const std::string& cut) {
    return at_peak(plan_of(job, cut).program, 0, MemoryCategory::activations);
  };
  const std::string cut = "expert_parallel = 4\n";
  const std::int64_t one = kept(cut), two = kept(cut + "schedule = \"combined-1f1b\"\n");
  CHECK(two > one);
  CHECK(two - one < one / 2);
  // The program does not grow with their number.
  const auto blocks = [&](std::int64_t batch) {
    job.workload.global_batch = batch;
    return plan_of(job, cut + "schedule = \"combined-1f1b\"\n").program.blocks.size();
  };
  CHECK(blocks(16 * 8) == blocks(16 * 800));
}

TEST_CASE("combined 1F1B: what it cannot run with is one line") {
  const TestJob job = job_of(8);
  CHECK(error_of(job, "pipeline = 2\n") ==
        "strategy.toml:1:12: schedule \"combined-1f1b\" needs interleave > 1 with pipeline > 1");
  CHECK(error_of(job, "recomputation = \"full\"\n") ==
        "strategy.toml:3:17: recomputation: schedule \"combined-1f1b\" has experts of one micro-batch between another "
        "one's, and mlp_norm would run again amid them, allowed: sections before mlp_norm");
  CHECK(error_of(job, "recomputed_sections = [\"qkv\", \"mlp_norm\"]\n")
            .starts_with("strategy.toml:3:23: recomputed_sec"));
  CHECK(error_of(job, "recomputed_sections = [\"attention_norm\", \"qkv\"]\n").empty());
  CHECK(error_of(job, "data_sharding = \"parameters\"\n") ==
        "strategy.toml:3:17: data_sharding: schedule \"combined-1f1b\" runs layers forward beside layers backward, and "
        "here each waits for what it is gathered for, allowed: \"auto\"");
  TestJob shared = job;
  shared.model.layer_kinds[1].shared_experts = 1;
  CHECK(error_of(shared, "").empty());
  CHECK(error_of(shared, "overlap_shared_experts = true\n") ==
        "strategy.toml:3:26: overlap_shared_experts: schedule \"combined-1f1b\" runs layers forward beside layers "
        "backward, and all-to-alls are beside these already, allowed: false");
  TestJob dense(8, gpt(4, 512, 8, 1024), 16);
  static_cast<void>(dense.plan("schedule = \"combined-1f1b\"\n"));
  CHECK(dense.diagnostics.errors() ==
        std::vector<std::string>{"strategy.toml:1:12: schedule: schedule \"combined-1f1b\" runs layers forward beside "
                                 "layers backward, and model gpt has no experts whose tokens travel, allowed: another "
                                 "one"});
  TestJob late = job;
  static_cast<void>(late.plan("expert_parallel = 4\ndelay_weight_gradients = true\n"));
  CHECK(late.diagnostics.warnings() ==
        std::vector<std::string>{"strategy.toml:2:26: delay_weight_gradients has no effect without schedule = "
                                 "\"combined-1f1b\""});
}

}  // namespace tessera::strategy::combined_programs
