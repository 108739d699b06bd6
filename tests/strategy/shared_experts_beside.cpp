// Shared experts on a stream of their own: sound programs that do the same, and what they cannot run with. How long
// that takes is in tests/experiment/shared_experts.cpp.
#include <catch2/catch.hpp>

#include "strategy/jobs.hpp"

namespace tessera::strategy::shared_stream_tests {
namespace {

TestJob job_of(std::uint32_t devices, std::int64_t layers, std::int64_t batch) {
  TestJob job(devices, mixture(layers, 4), batch);
  job.workload.sequence = 128;
  job.model.layer_kinds[1].shared_experts = 2;
  job.model.layer_kinds[1].shared_gate = true;
  return job;
}

Plan plan_of(TestJob& job, const std::string& keys) {
  Plan plan = job.plan(keys);
  CAPTURE(keys);
  REQUIRE(job.diagnostics.errors() == std::vector<std::string>{});
  REQUIRE(program::check_program(plan.program, job.machine) == std::vector<std::string>{});
  return plan;
}

std::string error_of(TestJob job, const std::string& keys) {
  static_cast<void>(job.plan(keys + "overlap_shared_experts = true\n"));
  return job.diagnostics.errors().empty() ? "" : job.diagnostics.errors().front();
}

std::int64_t sent(const TestJob& job, const Plan& plan) {
  return static_cast<std::int64_t>(program::totals(plan.program, job.machine, 0).bytes_sent);
}

const std::vector<std::string> cuts = {
    "expert_parallel = 4\n",
    "pipeline = 4\nexpert_parallel = 4\nrecomputation = \"full\"\n",
    "pipeline = 2\ninterleave = 2\nexpert_parallel = 2\nrecomputation = \"full\"\nrecomputed_layers = 1\n",
    "pipeline = 2\nexpert_parallel = 4\nrecomputation = \"full\"\nrecomputation_method = \"uniform\"\n"
    "recomputed_layers = 3\n",
    "pipeline = 2\nexpert_parallel = 2\nrecomputation = \"full\"\n"
    "[[stages]]\nrecomputation = [\"none\"]\n[[stages]]\nrecomputation = [\"mlp_norm\"]\n",
    "pipeline = 2\ntensor = 2\nexpert_parallel = 2\n",
    "pipeline = 2\nexpert_parallel = 2\nschedule = \"zb-h1\"\ndistributed_optimizer = true\n",
    "pipeline = 2\nexpert_parallel = 2\nschedule = \"gpipe\"\noverlap_gradient_reduction = true\n",
    "expert_parallel = 4\ndata_sharding = \"parameters\"\n",
    "expert_parallel = 4\ncontext_parallel = 2\n",
};

}  // namespace

TEST_CASE("shared experts beside the others: sound programs that compute and send the same") {
  for (const std::string& cut : cuts) {
    TestJob job = job_of(16, 8, 32);
    job.workload.flash_attention = true;
    const Plan in_turn = plan_of(job, cut), beside = plan_of(job, "overlap_shared_experts = true\n" + cut);
    CHECK(beside.hardware_flops == in_turn.hardware_flops);
    CHECK(sent(job, beside) == sent(job, in_turn));
    CHECK(beside.program.devices[0].streams.size() == in_turn.program.devices[0].streams.size() + 1);
    for (program::DeviceId device = 0; device < 16; ++device)
      CHECK(program::memory_peak(beside.program, device).total == program::memory_peak(in_turn.program, device).total);
  }
}

TEST_CASE("shared experts beside the others: modules that predict further ahead have a layer of the last kind") {
  TestJob job = job_of(8, 4, 16);
  job.model.prediction_depth = 2;
  for (const std::string schedule : {"1f1b", "zb-h1"}) {
    const std::string cut = "pipeline = 2\nexpert_parallel = 4\nschedule = \"" + schedule + "\"\n";
    const double flops = plan_of(job, cut).hardware_flops;
    CHECK(plan_of(job, cut + "overlap_shared_experts = true\n").hardware_flops == flops);
  }
}

TEST_CASE("shared experts beside the others: sections keep, and run, what both parts together do") {
  TestJob job = job_of(1, 2, 1);
  job.workload.scaling = workload::Scaling::current;
  for (const bool sequence_parallel : {false, true})
    for (const auto products : {workload::OperandType::same, workload::OperandType::fp8}) {
      job.workload.product_datatype = products;
      workload::LayerShape shape;
      shape.sequence = 128;
      shape.tensor = 2;
      shape.sequence_parallel = sequence_parallel;
      shape.kind = 1;
      shape.stack = &job.workload;
      shape.shared_beside = true;
      const workload::LayerOperators whole = workload::transformer_layer(job.model, shape);
      const auto [routed, shared] = workload::apart_experts(job.model, shape);
      const auto check = [](const workload::OperatorSet& all, std::vector<const workload::OperatorSet*> parts) {
        std::int64_t kept = 0;
        std::vector<workload::Operator> forward;
        std::size_t input = 0, weight = 0;
        for (const workload::OperatorSet* part : parts) {
          kept += part->kept();
          forward.insert(forward.end(), part->forward.begin(), part->forward.end());
          input += part->input_gradient.size();
          weight += part->weight_gradient.size();
        }
        CHECK(all.kept() == kept);
        CHECK(all.forward == forward);
        CHECK(all.input_gradient.size() == input);
        CHECK(all.weight_gradient.size() == weight);
      };
      check(whole.router, {&routed.router, &shared.gate});
      check(whole.fc1, {&routed.fc1, &shared.fc1});
      check(whole.activation, {&routed.activation, &shared.activation});
      check(whole.fc2, {&routed.fc2, &shared.fc2});
      check(whole.combine, {&routed.combine, &shared.scale, &shared.sum});
      // The gathered input is kept whole, in the activations' two bytes or as an operand of one; where nothing is
      // gathered it is the router's, and an operand of products in FP8 comes on top.
      const bool is_low = products == workload::OperandType::fp8;
      CHECK(shared.fc1.kept_input == 128 * 512 * (is_low ? 1 : sequence_parallel ? 2 : 0));
    }
}

TEST_CASE("shared experts beside the others: what they cannot run with is one line") {
  const TestJob job = job_of(8, 8, 32);
  const std::string cut = "pipeline = 4\nexpert_parallel = 2\n";
  CHECK(error_of(job, cut + "schedule = \"dualpipe\"\n") ==
        "strategy.toml:4:26: schedule \"dualpipe\" has two streams, whose all-to-alls run beside each other's "
        "computing: overlap_shared_experts = false");
  CHECK(error_of(job, "weight_streaming = \"devices\"\n") ==
        "strategy.toml:2:26: with weight_streaming micro-batches pass layer by layer, on one stream: "
        "overlap_shared_experts = false");
  TestJob serving = job;
  serving.workload.phase = workload::Phase::generation;
  CHECK(error_of(serving, "expert_parallel = 2\n") ==
        "strategy.toml:2:26: generation runs all experts on one stream: overlap_shared_experts = false");
  serving.workload.phase = workload::Phase::prompt;
  CHECK(error_of(serving, "expert_parallel = 2\n").empty());
  TestJob routed = job;
  routed.model.layer_kinds[1].shared_experts = 0;
  routed.model.layer_kinds[1].shared_gate = false;
  CHECK(error_of(routed, cut) ==
        "strategy.toml:3:26: model mixture has no shared experts: overlap_shared_experts = false");
  CHECK(error_of(TestJob(8, gpt(8, 512, 8, 1024), 32), "pipeline = 4\n") ==
        "strategy.toml:2:26: model gpt has no experts: overlap_shared_experts = false");
}

}  // namespace tessera::strategy::shared_stream_tests
