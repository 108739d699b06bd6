// Weights, gradients and optimizer state cut over the replicas (FSDP): what a device holds and sends. Times are in
// tests/experiment/sharded_weights.cpp.
#include "sharded_jobs.hpp"

namespace tessera::strategy::sharded {
namespace {

const std::string parameters = "data_sharding = \"parameters\"\n";

std::size_t instructions(const program::Program& program) {
  std::size_t count = 0;
  for (const program::Block& block : program.blocks) count += block.code.size();
  return count;
}

}  // namespace

TEST_CASE("sharding: a device holds its part of everything, and two whole units with the gradients of two") {
  TestJob job = small_job();
  // A quarter of each unit; the words are the embedding's.
  const std::int64_t part = (2 * layer + embedding + norm) / 4;
  // The embedding is the largest unit: two of them in 2 B, and two gradients of it in 4 B.
  CHECK(held_by(job, parameters) == Held{2 * part, 4 * part, 12 * part, 2 * 2 * embedding + 2 * 4 * embedding});
  CHECK(held_by(job, parameters + "gather_ahead = 0").buffers == 2 * embedding + 2 * 4 * embedding);
  CHECK(held_by(job, parameters + "gather_ahead = 3").buffers == 4 * 2 * embedding + 2 * 4 * embedding);
  // Whole gradients have the precision in which they are summed, the sums that of the buffer.
  CHECK(held_by(job, parameters + "reduction_precision = \"fp16\"") ==
        Held{2 * part, 4 * part, 12 * part, 2 * 2 * embedding + 2 * 2 * embedding});
  // Without resharding each unit has its place: the head's words as well, which are gathered for it.
  CHECK(held_by(job, parameters + "reshard_after_forward = false").buffers ==
        2 * (2 * layer + embedding + words + norm) + 2 * 4 * embedding);
}

TEST_CASE("sharding: parts are padded unit by unit, and are those of a tensor rank's share") {
  TestJob three = small_job(3);
  three.workload.global_batch = 3;
  // 49,984 / 3 = 16,661.3, 139,264 / 3 = 46,421.3, 128 / 3 = 42.7, each rounded up. Whole units are padded too.
  CHECK(held_by(three, parameters).weights == 2 * (2 * 16'662 + 46'422 + 43));
  CHECK(held_by(three, parameters).buffers == (2 * 2 + 2 * 4) * 3 * 46'422);
  TestJob tensor = small_job(8);
  // Of two tensor ranks: norms (4 h) and two output biases (h each) whole, the rest of a layer half; of the embedding
  // half of 256 words, which is what the vocabulary is padded to, and all positions; the final norm.
  const std::int64_t whole = 6 * 64, half_layer = (layer - whole) / 2 + whole, half_embedding = embedding;
  const std::int64_t part = (2 * half_layer + half_embedding + norm) / 4;
  CHECK(held_by(tensor, parameters + "tensor = 2").weights == 2 * part);
}

TEST_CASE("sharding: the stages of a pipeline hold parts of their units") {
  TestJob job = small_job(8);
  const std::int64_t first = (layer + embedding) / 4, last = (layer + words + norm) / 4;
  CHECK(held_by(job, parameters + "pipeline = 2").weights == 2 * first);
  CHECK(held_by(job, parameters + "pipeline = 2", 7).weights == 2 * last);
  // One message each way of 64 x 64 numbers; the largest unit of the last stage is its layer.
  CHECK(held_by(job, parameters + "pipeline = 2", 7).buffers == 2 * 2 * 64 * 64 + (2 * 2 + 2 * 4) * layer);
}

TEST_CASE("sharding: two gathers and a reduce-scatter of each unit and micro-batch") {
  TestJob job = small_job();
  // 8 micro-batches; 3/4 of each unit leave a device in each of them. Two numbers of 4 B go out at the end twice each.
  const std::int64_t units = 2 * layer + embedding + words + norm, numbers = 2 * 2 * 4;
  CHECK(sent_by(job, parameters) == 8 * (2 * 2 + 4) * units * 3 / 4 + numbers);
  CHECK(sent_by(job, parameters + "gather_ahead = 0") == sent_by(job, parameters));
  CHECK(sent_by(job, parameters + "gather_ahead = 7") == sent_by(job, parameters));
  CHECK(sent_by(job, parameters + "reshard_after_forward = false") == 8 * (2 + 4) * units * 3 / 4 + numbers);
  CHECK(sent_by(job, parameters + "recomputation = \"full\"") == sent_by(job, parameters));  // a unit stays for both
  job.workload.phase = workload::Phase::prompt;
  CHECK(sent_by(job, parameters + "micro_batch = 1") == 8 * 2 * units * 3 / 4);
  CHECK(sent_by(job, parameters) == 2 * units * 3 / 4);  // prompts go together
}

TEST_CASE("sharding: experts are cut over those who hold the same ones") {
  using namespace mixture_parameters;
  TestJob job = mixture_job(8);
  // With h = 512 all parts but experts are multiples of 8.
  // Two experts on each of two expert-parallel ranks, four replicas of each.
  CHECK(held_by(job, parameters + "expert_parallel = 2").weights == 2 * (rest / 8 + 2 * expert / 4));
  // The MoE layer is the largest unit.
  CHECK(held_by(job, parameters + "expert_parallel = 2").buffers ==
        (2 * 2 + 2 * 4) * (attention + router + 2 * expert));
  // Experts that nobody else holds stay where they are: then the dense layer is.
  TestJob four = mixture_job(4);
  CHECK(held_by(four, parameters + "expert_parallel = 4").weights == 2 * (rest / 4 + expert));
  CHECK(held_by(four, parameters + "expert_parallel = 4").buffers == (2 * 2 + 2 * 4) * dense);
}

TEST_CASE("sharding: sound programs that do not grow with micro-batches") {
  for (const std::string cut :
       {"", "tensor = 2\nsequence_parallel = true\npipeline = 2", "pipeline = 4", "pipeline = 4\nschedule = \"gpipe\"",
        "pipeline = 2\ninterleave = 4", "pipeline = 2\ninterleave = 2\nreshard_after_forward = false",
        "pipeline = 2\nstage_layers = [8, 0]", "recomputation = \"full\"", "recomputation = \"selective\""}) {
    for (const int ahead : {0, 1, 2, 5, 100}) {
      CAPTURE(cut, ahead);
      TestJob job = small_job(8, 8);
      job.workload.global_batch = 1600;
      const std::string keys = parameters + "gather_ahead = " + std::to_string(ahead) + "\n" + cut;
      const Plan few = job.plan(keys);
      CHECK(job.diagnostics.errors() == std::vector<std::string>{});
      CHECK(program::check_program(few.program, job.machine) == std::vector<std::string>{});
      job.workload.global_batch = 6400;
      const Plan many = job.plan(keys);
      CHECK(program::check_program(many.program, job.machine) == std::vector<std::string>{});
      CHECK(instructions(many.program) == instructions(few.program));
    }
  }
}

TEST_CASE("sharding: what cannot be is refused in a line, and what changes nothing warns") {
  TestJob job = small_job();
  const auto errors = [&](const std::string& keys) {
    (void)job.plan(keys);
    return job.diagnostics.errors();
  };
  using Lines = std::vector<std::string>;
  CHECK(errors(parameters + "tensor = 4") ==
        Lines{"strategy.toml:1:17: data_sharding = \"parameters\" cuts weights over replicas, and there is one: data = "
              "1"});
  CHECK(errors(parameters + "gradient_reduction = \"all-reduce\"") ==
        Lines{"strategy.toml:2:22: data_sharding = \"parameters\" reduce-scatters gradients: gradient_reduction = "
              "\"auto\""});
  CHECK(errors(parameters + "gather_ahead = -1").size() == 1);
  CHECK(errors("data_sharding = \"weights\"") ==
        Lines{"strategy.toml:1:17: \"data_sharding\": unknown choice \"weights\", allowed: auto, gradients, "
              "parameters"});
  job.workload.phase = workload::Phase::generation;
  CHECK(errors(parameters) ==
        Lines{"strategy.toml:1:17: data_sharding = \"parameters\" would gather all weights for each token: allowed in "
              "training and prompt"});
  job.workload.phase = workload::Phase::training;
  CHECK(errors("gather_ahead = 2\nreshard_after_forward = false").empty());
  CHECK(
      job.diagnostics.warnings() ==
      Lines{"strategy.toml:1:16: gather_ahead has no effect without data_sharding = \"parameters\" or weight_streaming",
            "strategy.toml:2:25: reshard_after_forward has no effect without data_sharding = \"parameters\" or "
            "weight_streaming"});
  CHECK(errors("flat_parameters = true").empty());
  CHECK(job.diagnostics.warnings() ==
        Lines{"strategy.toml:1:19: flat_parameters has no effect without data_sharding = \"parameters\""});
  const Plan streamed = job.plan("weight_streaming = \"devices\"\nflat_parameters = true");
  CHECK(job.diagnostics.warnings() == Lines{"strategy.toml:2:19: flat_parameters has no effect with weight_streaming"});
  CHECK(streamed.program.operators == job.plan("weight_streaming = \"devices\"").program.operators);
  CHECK(errors(parameters + "overlap_gradient_reduction = true").empty());
  CHECK(job.diagnostics.warnings() ==
        Lines{"strategy.toml:2:30: overlap_gradient_reduction has no effect with data_sharding = \"parameters\": "
              "gradients are always reduced beside the backward pass"});
}

}  // namespace tessera::strategy::sharded
