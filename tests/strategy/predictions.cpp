// Modules that predict tokens further ahead: where they run, what they hold and send, and what does not go with them.
#include <catch2/catch.hpp>

#include <algorithm>

#include "jobs.hpp"

namespace tessera::strategy {
namespace {
namespace predictions {

using program::CollectiveKind;
using program::MemoryCategory;
using Names = std::vector<std::string>;

constexpr std::int64_t s = 256, h = 512, vocabulary = 1024, ffn = 4 * h;

/// Without biases, dropout and learned positions; embedding and output weight are two.
workload::Model model_of(std::int64_t depth, std::int64_t layers = 4) {
  workload::Model model = gpt(layers, h, 8, vocabulary);
  model.position = workload::PositionEmbedding::rotary;
  model.norm = workload::Norm::rmsnorm;
  model.bias = model.qkv_bias = model.dropout = model.tied_embeddings = false;
  model.prediction_depth = depth;
  return model;
}

TestJob job_of(std::uint32_t devices, workload::Model model, std::int64_t batch = 4) {
  TestJob job(devices, std::move(model), batch);
  job.workload.sequence = s;
  job.workload.flash_attention = true;
  job.machine.device.peak["fp16"] = FlopPerSecond{100'000'000'000'000};
  return job;
}

Plan plan_of(TestJob job, const std::string& keys) { return sound_plan(job, keys); }

/// Elements of a layer and of a module but for its layer.
constexpr std::int64_t of_layer = 4 * h * h + 2 * h * ffn + 2 * h, around = 2 * h * h + 3 * h;

TEST_CASE("a module computes what one more layer does, a product of 2 h x h, and logits") {
  const std::string keys = "micro_batch = 1\n";
  const auto flops = [&](std::int64_t depth, std::int64_t layers) {
    return plan_of(job_of(1, model_of(depth, layers)), keys).hardware_flops;
  };
  const double products = 3.0 * 2 * 4 * s * (2 * h * h + h * vocabulary);
  CHECK(flops(1, 4) - flops(0, 4) == Approx(flops(0, 5) - flops(0, 4) + products).epsilon(1e-12));
  CHECK(flops(2, 4) - flops(0, 4) == Approx(2 * (flops(0, 5) - flops(0, 4) + products)).epsilon(1e-12));
  const Plan plan = plan_of(job_of(1, model_of(1)), keys);
  // Here nothing is masked out as papers count it, so that the model's FLOP are more.
  CHECK(plan.parameters == plan_of(job_of(1, model_of(0)), keys).parameters + of_layer + around);
}

TEST_CASE("the last stage holds a module and a copy of the embedding, whose gradients both ends sum") {
  const std::string keys = "pipeline = 2\nmicro_batch = 1\n";
  const Plan with = plan_of(job_of(2, model_of(1)), keys), without = plan_of(job_of(2, model_of(0)), keys);
  const auto weights = [](const Plan& plan, program::DeviceId stage) {
    return at_peak(plan.program, stage, MemoryCategory::weights);
  };
  CHECK(weights(with, 0) == weights(without, 0));
  CHECK(weights(with, 1) - weights(without, 1) == 2 * (of_layer + around + vocabulary * h));
  const auto sums = [](const Plan& plan) {
    return std::ranges::count_if(plan.program.collectives, [](const program::Collective& one) {
      return one.kind == CollectiveKind::all_reduce && one.bytes.value() == 4 * vocabulary * h;
    });
  };
  CHECK(sums(with) == 1);
  CHECK(sums(without) == 0);
  // Tied, the last stage has had the copy, and the sum, before.
  workload::Model tied = model_of(1);
  tied.tied_embeddings = true;
  const Plan both = plan_of(job_of(2, tied), keys);
  tied.prediction_depth = 0;
  const Plan plain = plan_of(job_of(2, tied), keys);
  CHECK(weights(both, 1) - weights(plain, 1) == 2 * (of_layer + around));
  CHECK((sums(both) == 1 && sums(plain) == 1));
  // On one stage there is one embedding.
  const Plan one = plan_of(job_of(1, model_of(1)), "micro_batch = 1\n");
  CHECK(sums(one) == 0);
  CHECK(weights(one, 0) - weights(plan_of(job_of(1, model_of(0)), "micro_batch = 1\n"), 0) == 2 * (of_layer + around));
}

std::int64_t kept(const TestJob& job, const std::string& keys) {
  return at_peak(plan_of(job, keys).program, 0, MemoryCategory::activations);
}

/// B that the norm before the logits, these and, in FP32, their loss keep of a micro-batch.
constexpr std::int64_t kept_of_head = 2 * s * h + 2 * s * h + 4 * s * vocabulary;

TEST_CASE("a module keeps its embedding, both inputs of its product, a layer and a loss") {
  // One micro-batch is there as a whole when the backward pass begins.
  const std::string keys = "micro_batch = 1\n";
  const auto of = [&](std::int64_t depth, std::int64_t layers, std::int64_t batch) {
    return kept(job_of(1, model_of(depth, layers), batch), keys);
  };
  const std::int64_t layer = of(0, 5, 1) - of(0, 4, 1);
  CHECK(of(1, 4, 1) - of(0, 4, 1) == layer + 2 * s * h + 2 * s * 2 * h + kept_of_head);
  // All of it is given back: more micro-batches take no more.
  CHECK(of(1, 4, 4) == of(1, 4, 1));
  // As a whole it runs again from its embedding, and its layer from its input.
  const std::string again = keys + "recomputation = \"full\"\n";
  const auto repeated = [&](std::int64_t depth, std::int64_t batch) {
    return kept(job_of(1, model_of(depth), batch), again);
  };
  CHECK(repeated(1, 4) == repeated(1, 1));
  // When its backward pass begins, the main head is done; four inputs of layers, and all of the module are there.
  CHECK(repeated(1, 1) == 5 * 2 * s * h + (layer - 2 * s * h) + 2 * s * h + 2 * s * 2 * h);
  // Of the first two layers alone: the module is not among them.
  const std::string some = again + "recomputed_layers = 2\n";
  const auto kept_some = [&](std::int64_t depth) { return kept(job_of(1, model_of(depth), 1), some); };
  CHECK(kept_some(1) - kept_some(0) == layer + 2 * s * h + 2 * s * 2 * h + kept_of_head);
}

TEST_CASE("whatever the schedule, a module does the same") {
  const auto totals_of = [](const std::string& keys) {
    TestJob job = job_of(4, model_of(1, 8), 16);
    const Plan plan = plan_of(job, "pipeline = 4\nmicro_batch = 1\n" + keys);
    return std::pair{plan.hardware_flops, program::totals(plan.program, job.machine, 3).bytes_sent};
  };
  const auto expected = totals_of("");
  for (const std::string keys : {"schedule = \"gpipe\"\n", "schedule = \"zb-h1\"\n", "schedule = \"zb-h2\"\n"}) {
    CAPTURE(keys);
    CHECK(totals_of(keys) == expected);
  }
  CHECK(totals_of("interleave = 2\n").first == Approx(expected.first));
  CHECK(totals_of("schedule = \"dualpipe\"\n").first == Approx(expected.first));
  CHECK(totals_of("schedule = \"dualpipe-v\"\ninterleave = 2\n").first == Approx(expected.first));
  // Half the layers of a stage run again where the schedule splits as well.
  CHECK(totals_of("recomputation = \"full\"\nschedule = \"zb-h1\"\n") == totals_of("recomputation = \"full\"\n"));
}

/// Calls of each collective of the tensor ranks that device 0 makes, by kind and bytes, with a module less those
/// without.
std::int64_t more_sent(const std::string& keys) {
  const auto sent = [&](std::int64_t depth, std::int64_t layers) {
    TestJob job = job_of(2, model_of(depth, layers), 1);
    const Plan plan = plan_of(job, "tensor = 2\nmicro_batch = 1\n" + keys);
    return static_cast<std::int64_t>(program::totals(plan.program, job.machine, 0).bytes_sent);
  };
  return sent(1, 4) - sent(0, 4) - (sent(0, 5) - sent(0, 4));
}

TEST_CASE("tensor ranks of a module") {
  // Of two ranks each sends half of what is gathered or scattered, and all of what is summed; activations are A.
  constexpr std::int64_t a = 2 * s * h;
  // Forward embedding summed, the product's input whole, its output gathered; three times 4 B of each token for a loss.
  // Backward the gradients of logits' and of the product's input, A and 2 A.
  CHECK(more_sent("") == a + a / 2 + 3 * 4 * s + a + 2 * a);
  // With sequence parallelism: embedding summed and its gradient gathered; 2 A gathered, its output gathered, A of
  // logits gathered; backward A of logits gathered and scattered, A of the output, 2 A gathered and scattered. Three
  // norms of h are summed over the ranks in FP32 before the update, and those of one more layer are with the layer.
  const std::int64_t norms = 4 * 3 * h;
  CHECK(more_sent("sequence_parallel = true\n") ==
        a + a / 2 + a + a / 2 + a / 2 + 3 * 4 * s + a / 2 + a / 2 + a / 2 + a + a + norms);
  CHECK(more_sent("sequence_parallel = true\noverlap_tensor_communication = false\n") ==
        more_sent("sequence_parallel = true\n"));
}

TEST_CASE("gradients of a module are summed, and its weights gathered, along with those of layers") {
  const auto sent = [&](std::int64_t depth, std::int64_t layers, const std::string& keys) {
    TestJob job = job_of(2, model_of(depth, layers), 4);
    const Plan plan = plan_of(job, "data = 2\nmicro_batch = 1\n" + keys);
    return static_cast<std::int64_t>(program::totals(plan.program, job.machine, 0).bytes_sent);
  };
  for (const std::string keys :
       {"", "overlap_gradient_reduction = true\n", "distributed_optimizer = true\n",
        "distributed_optimizer = true\noverlap_gradient_reduction = true\noverlap_parameter_gathering = true\n"}) {
    CAPTURE(keys);
    const std::int64_t layer = sent(0, 5, keys) - sent(0, 4, keys);
    // Two replicas: each sends all of what is summed, 4 B of an element, or half of that and half of 2 B.
    const std::int64_t of_one = keys.find("distributed") == std::string::npos ? 4 : 3;
    CHECK(sent(1, 4, keys) - sent(0, 4, keys) == layer + of_one * around);
  }
}

TEST_CASE("a module of a layer with experts") {
  workload::Model model = mixture(4, 8);
  const auto keys = "data = 4\nexpert_parallel = 4\nmicro_batch = 1\nexpert_imbalance = 0.4\n";
  const double none = plan_of(job_of(4, model, 8), keys).hardware_flops;
  model.prediction_depth = 1;
  for (const std::string more : {"", "schedule = \"1f1b\"\noverlap_gradient_reduction = true\n"}) {
    const Plan plan = plan_of(job_of(4, model, 8), keys + more);
    CHECK(plan.hardware_flops > none);
    // Two experts of its own on each device: both matrices, and their biases.
    const std::int64_t experts = 2 * (2 * h * ffn + ffn + h);
    const std::int64_t bytes = at_peak(plan.program, 1, MemoryCategory::weights);
    workload::Model without = model;
    without.prediction_depth = 0;
    const std::int64_t before = at_peak(plan_of(job_of(4, without, 8), keys).program, 1, MemoryCategory::weights);
    // Attention with its biases, two norms with theirs, the router; the two norms, the product and the final norm.
    const std::int64_t dense = 4 * h * h + 4 * h + 2 * 2 * h + 8 * h;
    CHECK(bytes - before == 2 * (experts + dense + 2 * h * h + 3 * 2 * h));
  }
}

TEST_CASE("stages are spread by what a module takes, and inference has none") {
  const auto layers = [](std::int64_t depth) {
    const Plan plan =
        plan_of(job_of(4, model_of(depth, 17), 16), "pipeline = 4\nmicro_batch = 1\nuneven_layers = \"spread\"\n");
    const auto found =
        std::ranges::find(plan.description, "layers a stage", &std::pair<std::string, std::string>::first);
    return found == plan.description.end() ? "" : found->second;
  };
  // Of 17 layers some stage has 5. With a module and its logits, more than a layer, the last one has 3.
  CHECK(layers(0).ends_with("4 x 2"));
  CHECK(layers(1).ends_with("3 x 1"));
  for (const auto phase : {workload::Phase::prompt, workload::Phase::generation}) {
    TestJob with = job_of(2, model_of(1)), without = job_of(2, model_of(0));
    with.workload.phase = without.workload.phase = phase;
    with.workload.generated = without.workload.generated = 16;
    const Plan one = plan_of(with, "pipeline = 2\n"), other = plan_of(without, "pipeline = 2\n");
    CHECK(one.hardware_flops == other.hardware_flops);
    CHECK(at_peak(one.program, 1, MemoryCategory::weights) == at_peak(other.program, 1, MemoryCategory::weights));
  }
}

TEST_CASE("what does not go with modules that predict further ahead is said") {
  const auto refusal = [](const std::string& keys) {
    TestJob job = job_of(4, model_of(1), 8);
    static_cast<void>(job.plan(keys));
    return job.diagnostics.errors().empty() ? "" : job.diagnostics.errors().front();
  };
  const std::string why = "model gpt has modules that predict further ahead (prediction_depth = 1), allowed: ";
  CHECK(refusal("data = 4\ndata_sharding = \"parameters\"") ==
        "strategy.toml:2:17: " + why + "data_sharding = \"auto\"");
  CHECK(refusal("data = 4\nweight_streaming = \"devices\"") ==
        "strategy.toml:2:20: " + why + "weight_streaming = \"off\"");
  CHECK(refusal("tensor = 4\nsequence_parallel = true\nuser_buffers = true") ==
        "strategy.toml:3:16: " + why + "user_buffers = false");
  CHECK(refusal("tensor = 4\nsequence_parallel = true\ntensor_rows = 2") ==
        "strategy.toml:3:15: " + why + "tensor_rows = 1");
  CHECK(refusal("context_parallel = 2\ndata = 2") == "strategy.toml:1:20: " + why + "context_parallel = 1");
}

}  // namespace predictions
}  // namespace
}  // namespace tessera::strategy
