// Gradients and optimizer state cut over the replicas, weights whole (ZeRO-2): what a device holds and sends. Times are
// in tests/experiment/sharded_weights.cpp.
#include "sharded_jobs.hpp"

namespace tessera::strategy::sharded {
namespace {

const std::string gradients = "data_sharding = \"gradients\"\n";

}  // namespace

TEST_CASE("sharded gradients: weights are whole, gradients and state a part, and whole gradients of two units") {
  TestJob job = small_job();
  const std::int64_t all = 2 * layer + embedding + norm, part = all / 4;
  CHECK(held_by(job, gradients) == Held{2 * all, 4 * part, 12 * part, 2 * 4 * embedding});
  // Whole gradients have the precision in which they are summed, the sums that of the buffer.
  CHECK(held_by(job, gradients + "reduction_precision = \"fp16\"") ==
        Held{2 * all, 4 * part, 12 * part, 2 * 2 * embedding});
  CHECK(held_by(job, gradients + "gradient_precision = \"fp16\"").gradients == 2 * part);
  // Stages have the units of their layers: 64 x 64 numbers go each way between them.
  TestJob pair = small_job(8);
  const std::int64_t last = layer + words + norm;
  CHECK(held_by(pair, gradients + "pipeline = 2", 7) ==
        Held{2 * last, last, 3 * last, 2 * 2 * 64 * 64 + 2 * 4 * layer});
}

TEST_CASE("sharded gradients: each micro-batch leaves a part of every unit's, and weights are gathered once") {
  TestJob job = small_job();
  // 8 micro-batches; 3/4 of a unit leave a device, 4 B of a gradient, 2 B of a weight. The words have gradients of the
  // embedding and of the head, and are gathered once. Two numbers of 4 B go out at the end twice each.
  const std::int64_t reduced = 2 * layer + embedding + words + norm, gathered = 2 * layer + embedding + norm;
  const std::int64_t numbers = 2 * 2 * 4;
  CHECK(sent_by(job, gradients) == (8 * 4 * reduced + 2 * gathered) * 3 / 4 + numbers);
  CHECK(sent_by(job, gradients + "micro_batch = 8") == (4 * reduced + 2 * gathered) * 3 / 4 + numbers);
  CHECK(sent_by(job, gradients + "reduction_precision = \"fp16\"") ==
        (8 * 2 * reduced + 2 * gathered) * 3 / 4 + numbers);
  CHECK(sent_by(job, gradients + "overlap_parameter_gathering = true") == sent_by(job, gradients));
  // Units are padded: 49,984 / 3 = 16,661.3, 139,264 / 3 = 46,421.3, 8,320 / 3 = 2,773.3, 128 / 3 = 42.7, rounded up.
  TestJob three = small_job(3);
  three.workload.global_batch = 3;
  const std::int64_t sums = 2 * 16'662 + 46'422 + 2'774, parts = 2 * 16'662 + 46'422 + 43;
  CHECK(sent_by(three, gradients) == (4 * sums + 2 * parts) * 2 + numbers);
  CHECK(sent_by(three, gradients + "overlap_parameter_gathering = true") == sent_by(three, gradients));
}

TEST_CASE("sharded gradients: experts' are cut over those who hold the same ones") {
  using namespace mixture_parameters;
  TestJob job = mixture_job(8);
  // Two experts on each of two expert-parallel ranks, four replicas of each.
  const Held held = held_by(job, gradients + "expert_parallel = 2");
  CHECK(held.weights == 2 * (rest + 2 * expert));
  CHECK(held.gradients == 4 * (rest / 8 + 2 * expert / 4));
  CHECK(held.buffers == 2 * 4 * (attention + router + 2 * expert));  // the MoE layer is the largest unit
  // Gradients of experts that nobody else holds are added up where they are: then the dense layer is.
  TestJob four = mixture_job(4);
  CHECK(held_by(four, gradients + "expert_parallel = 4").gradients == 4 * (rest / 4 + expert));
  CHECK(held_by(four, gradients + "expert_parallel = 4").buffers == 2 * 4 * dense);
}

TEST_CASE("sharded gradients: sound programs of pipelines, recomputation and products in FP8") {
  for (const std::string cut : {"tensor = 2\nsequence_parallel = true\npipeline = 2", "pipeline = 2\ninterleave = 4",
                                "pipeline = 4\nschedule = \"gpipe\"",
                                "recomputation = \"full\"\nrecomputation_method = \"uniform\"\n"
                                "recomputed_layers = 2",
                                "context_parallel = 2\npipeline = 2\noverlap_parameter_gathering = true"}) {
    CAPTURE(cut);
    TestJob job(8, gpt(8, 64, 4, 128), 1600);
    job.workload.sequence = 64;
    job.workload.flash_attention = true;  // of context ranks
    const Plan few = sound_plan(job, gradients + cut);
    job.workload.global_batch = 6400;
    const Plan many = sound_plan(job, gradients + cut);
    CHECK(many.program.blocks.size() == few.program.blocks.size());
  }
}

TEST_CASE("sharded gradients: what cannot be is refused in a line, and what changes nothing warns") {
  TestJob job = small_job();
  const auto errors = [&](const std::string& keys) {
    (void)job.plan(keys);
    return job.diagnostics.errors();
  };
  using Lines = std::vector<std::string>;
  CHECK(errors(gradients + "tensor = 4") ==
        Lines{"strategy.toml:1:17: data_sharding = \"gradients\" cuts gradients over replicas, and there is one: data "
              "= 1"});
  CHECK(errors(gradients + "gradient_reduction = \"all-reduce\"") ==
        Lines{"strategy.toml:2:22: data_sharding = \"gradients\" reduce-scatters gradients: gradient_reduction = "
              "\"auto\""});
  CHECK(errors(gradients + "weight_streaming = \"devices\"") ==
        Lines{"strategy.toml:1:17: weight_streaming cuts weights too, allowed: \"auto\", \"parameters\""});
  CHECK(errors(gradients + "pipeline = 2\nschedule = \"zb-h1\"") ==
        Lines{"strategy.toml:1:17: data_sharding: schedule \"zb-h1\" puts weight gradients apart, and here they leave "
              "behind a layer's backward pass, allowed: \"auto\""});
  CHECK(errors(gradients + "gather_ahead = 2\noverlap_gradient_reduction = true").empty());
  CHECK(job.diagnostics.warnings() ==
        Lines{"strategy.toml:2:16: gather_ahead has no effect without data_sharding = \"parameters\" or "
              "weight_streaming",
              "strategy.toml:3:30: overlap_gradient_reduction has no effect with data_sharding = \"gradients\": "
              "gradients are always reduced beside the backward pass"});
  job.machine.device.memory_capacity = Bytes{1'000'000};
  CHECK(errors(gradients) == Lines{"strategy.toml:1:17: whole gradients of two layers take 1.11 MB, and a device has "
                                   "1.00 MB, allowed: more tensor ranks"});
  job.workload.phase = workload::Phase::prompt;
  CHECK(errors(gradients).empty());
  CHECK(job.diagnostics.warnings() ==
        Lines{"strategy.toml:1:17: data_sharding has no effect outside training: there are no gradients"});
}

}  // namespace tessera::strategy::sharded
