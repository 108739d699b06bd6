// Models that do not predict the next token, under strategy megatron: what tensor ranks exchange of two streams and of
// HSTU, stages and replicas, and what is refused.
#include <catch2/catch.hpp>

#include <algorithm>

#include "jobs.hpp"

namespace tessera::strategy {
namespace {
namespace two_streams {

using program::CollectiveKind;
using Names = std::vector<std::string>;

constexpr std::int64_t h = 512, sequence = 128, text = 32;

/// Without a vocabulary, and what speaks of one.
workload::Model without_words(const std::string& name) {
  workload::Model model = gpt(4, h, 8, 0);
  model.name = name;
  model.position = workload::PositionEmbedding::none;
  model.tied_embeddings = model.dropout = model.final_norm = false;
  return model;
}

/// Of four layers the text ends in the last one.
workload::Model diffusion() {
  workload::Model model = without_words("diffusion");
  model.causal = model.norm_bias = false;
  model.diffusion = {text, 64, 48, 16, 12, 12};
  workload::LayerKind last{model, "last"};
  last.text_ends = true;
  model.layer_kinds = {{model, "joint"}, last};
  model.layer_sequence = {"joint * 3", "last"};
  static_cast<void>(number_layers(model));
  return model;
}

workload::Model hstu() {
  workload::Model model = without_words("hstu");
  model.mixer = workload::Mixer::hstu;
  model.time_buckets = 16;
  model.max_positions = sequence;
  model.mlp = model.bias = model.qkv_bias = false;
  return model;
}

TestJob job_of(std::uint32_t devices, workload::Model model) {
  TestJob job(devices, std::move(model), 8);
  job.workload.sequence = sequence;
  job.workload.flash_attention = true;
  job.machine.device.peak["fp16"] = FlopPerSecond{100'000'000'000'000};
  return job;
}

Names error_of(TestJob& job, const std::string& keys) {
  static_cast<void>(job.plan(keys));
  return job.diagnostics.errors();
}

TEST_CASE("two streams: tensor ranks move activations as one, of the last layer the image's part") {
  TestJob job = job_of(2, diffusion());
  const Plan plan = sound_plan(job, "tensor = 2\nsequence_parallel = true");
  const auto gathered = sizes_of(plan.program, CollectiveKind::all_gather);
  // FP16: all 128 tokens of 512 elements, 96 of them of 384 = 512 x 96 / 128 elements a token; the modulation of a
  // sample, six vectors of each stream, or six and two.
  for (const std::int64_t bytes : {2 * sequence * h, 2 * sequence * 384, 2 * 12 * h, 2 * 8 * h})
    CHECK(std::ranges::count(gathered, bytes) == 1);
  const auto summed = sizes_of(plan.program, CollectiveKind::all_reduce);
  for (const std::int64_t bytes : {2 * 12 * h, 2 * 8 * h, 2 * h}) CHECK(std::ranges::count(summed, bytes) >= 1);
  // No word is looked up.
  CHECK(std::ranges::count(summed, 2 * sequence * h) == 0);
}

TEST_CASE("HSTU: tensor ranks sum two numbers of each token for the norm over all heads") {
  TestJob job = job_of(2, hstu());
  const auto summed =
      sizes_of(sound_plan(job, "tensor = 2\nsequence_parallel = true").program, CollectiveKind::all_reduce);
  CHECK(std::ranges::count(summed, 8 * sequence) == 1);
}

TEST_CASE("models without a vocabulary in stages, replicas and FSDP, again and in two parts") {
  for (const char* keys :
       {"tensor = 2\npipeline = 2\ndata = 2", "tensor = 2\npipeline = 2\ndata = 2\nrecomputation = \"selective\"",
        "pipeline = 2\ndata = 4\nrecomputation = \"full\"", "tensor = 2\ndata = 4\ndata_sharding = \"parameters\"",
        "tensor = 2\npipeline = 4\ndata = 1\nschedule = \"zb-h1\"",
        "tensor = 2\npipeline = 2\ninterleave = 2\nschedule = \"dualpipe-v\"",
        "tensor = 4\nsequence_parallel = true\npipeline = 2\ndistributed_optimizer = true",
        "tensor = 2\ndata = 4\nrecomputed_sections = [\"projection\", \"attention_residual\"]"}) {
    CAPTURE(keys);
    for (const workload::Model& model : {diffusion(), hstu()}) {
      TestJob job = job_of(8, model);
      static_cast<void>(sound_plan(job, keys));
    }
  }
}

TEST_CASE("cuts that two streams do not know, and jobs that are not training") {
  TestJob job = job_of(8, diffusion());
  const std::string what = "the model's image and text have weights of their own ([model.diffusion]), allowed: ";
  CHECK(error_of(job, "tensor = 4\nsequence_parallel = true\ntensor_rows = 2") ==
        Names{"strategy.toml:3:15: " + what + "tensor_rows = 1"});
  CHECK(error_of(job, "tensor = 4\ndata = 2\nattention = \"whole\"") ==
        Names{"strategy.toml:3:13: " + what + "attention = \"cut\""});
  CHECK(error_of(job, "tensor = 4\nsequence_parallel = true\nuser_buffers = true") ==
        Names{"strategy.toml:3:16: " + what + "user_buffers = false"});
  CHECK(error_of(job, "tensor = 4\ncontext_parallel = 2") ==
        Names{"strategy.toml:2:20: " + what + "context_parallel = 1"});
  job.workload.phase = workload::Phase::prompt;
  CHECK(error_of(job, "tensor = 4\ndata = 2") ==
        Names{"strategy.toml:1:1: model diffusion has patches of images in the place of a vocabulary, allowed: "
              "workload.phase = \"training\""});
  TestJob other = job_of(8, hstu());
  CHECK(error_of(other, "tensor = 4\nsequence_parallel = true\ntensor_rows = 2") ==
        Names{"strategy.toml:3:15: the model has HSTU layers, allowed: tensor_rows = 1"});
  other.workload.phase = workload::Phase::prompt;
  CHECK(error_of(other, "tensor = 4\ndata = 2") ==
        Names{"strategy.toml:1:1: model hstu has no vocabulary, allowed: workload.phase = \"training\""});
}

}  // namespace two_streams
}  // namespace
}  // namespace tessera::strategy
