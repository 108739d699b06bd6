// Plans of the strategy megatron: programs that are sound, and memory, messages and FLOP solved by hand.
#include <algorithm>
#include <catch2/catch.hpp>

#include "strategy/jobs.hpp"

namespace tessera::strategy {
namespace {

using program::MemoryCategory;

constexpr std::int64_t s = 2048;
constexpr std::int64_t h = 1024;
constexpr std::int64_t a = 16;
constexpr std::int64_t t = 8;

double activations(std::int64_t layers, const std::string& strategy) {
  TestJob job(8, gpt(layers, h, a), 1);
  const Plan plan = job.plan("tensor = 8\n" + strategy);
  job.diagnostics.throw_if_errors();
  return static_cast<double>(at_peak(plan.program, 0, MemoryCategory::activations));
}

/// What four layers more keep, by layer: what stands beside the layers, and what is recomputed, cancels out.
double kept_a_layer(const std::string& strategy) { return (activations(8, strategy) - activations(4, strategy)) / 4; }

program::ProgramTotals traffic(std::int64_t layers, const std::string& strategy) {
  TestJob job(8, gpt(layers, h, a), 1);
  const Plan plan = job.plan("tensor = 8\n" + strategy);
  job.diagnostics.throw_if_errors();
  return program::totals(plan.program, job.machine, 0);
}

double flops_per_token(const std::string& recomputation, bool hardware) {
  TestJob job(8, gpt(4, h, a), 8);
  const Plan plan = job.plan("tensor = 2\npipeline = 4\nrecomputation = \"" + recomputation + "\"");
  job.diagnostics.throw_if_errors();
  CHECK(plan.tokens == 8 * s);
  return (hardware ? plan.hardware_flops : plan.model_flops) / (8.0 * s);
}

}  // namespace

TEST_CASE("activations of a layer are those of Korthikanti et al. 2022, table 2") {
  // sbh = 2048 x 1 x 1024; as/h = 16 x 2048 / 1024 = 32.
  const double sbh = double{s} * h;
  CHECK(kept_a_layer("recomputation = \"none\"") == Approx(sbh * (10 + 24.0 / t + 5 * 32.0 / t)).epsilon(0.01));
  CHECK(kept_a_layer("sequence_parallel = true") == Approx(sbh / t * (34 + 5 * 32.0)).epsilon(0.01));
  CHECK(kept_a_layer("recomputation = \"selective\"") == Approx(sbh * (10 + 24.0 / t)).epsilon(0.01));
  CHECK(kept_a_layer("sequence_parallel = true\nrecomputation = \"selective\"") == Approx(34 * sbh / t).epsilon(0.01));
  CHECK(kept_a_layer("recomputation = \"full\"") == Approx(2 * sbh).epsilon(0.01));
}

TEST_CASE("losses are scaled, and checked for infinities, in FP16 alone; the gradients' norm is taken in both") {
  for (const std::string datatype : {"fp16", "bf16"}) {
    CAPTURE(datatype);
    TestJob job(8, gpt(4, h, a), 8);
    job.workload.datatype = datatype;
    const Plan plan = job.plan("tensor = 8");
    job.diagnostics.throw_if_errors();
    const auto has = [&](const std::string& label) {
      return std::count(plan.program.labels.begin(), plan.program.labels.end(), label) == 1;
    };
    CHECK(has("infinity check all-reduce") == (datatype == "fp16"));
    CHECK(has("gradient norm all-reduce"));
  }
}

TEST_CASE("stages hold the activations of the micro-batches that are in flight") {
  // 8 stages of one layer, 16 micro-batches, no recomputation, one tensor rank: stage i holds 8 - i micro-batches.
  TestJob job(8, gpt(8, h, a), 16);
  const Plan plan = job.plan("pipeline = 8");
  job.diagnostics.throw_if_errors();
  const double layer = double{s} * h * (34 + 5 * 32);
  for (program::DeviceId stage = 1; stage < 7; ++stage) {
    const auto found = static_cast<double>(at_peak(plan.program, stage, MemoryCategory::activations));
    CHECK(found == Approx((8 - stage) * layer).epsilon(0.01));
  }
  // The first one keeps the mask of the dropout behind the embedding as well: sbh a micro-batch.
  CHECK(static_cast<double>(at_peak(plan.program, 0, MemoryCategory::activations)) ==
        Approx(8 * (layer + double{s} * h)).epsilon(0.01));
  // Interleaved, two chunks of half as many layers: (1 + (p-1)/(pm)) times as much on the first stage.
  TestJob interleaved(8, gpt(16, h, a), 16);
  const Plan chunks = interleaved.plan("pipeline = 8\ninterleave = 2");
  interleaved.diagnostics.throw_if_errors();
  // 23 chunks of one layer; at worst 16 of them are the first chunk's, each with the mask behind the embedding.
  CHECK(static_cast<double>(at_peak(chunks.program, 0, MemoryCategory::activations)) ==
        Approx(16 * layer * (1 + 7.0 / 16) + 16 * double{s} * h).epsilon(1e-9));
}

TEST_CASE("weights, gradients and optimizer state: 18 bytes a parameter, less with the distributed optimizer") {
  // 4 layers of 12 h^2 + 13 h, the embedding v h + s h, the final norm 2 h; the output weight is the embedding's.
  const std::int64_t parameters = 4 * (12 * h * h + 13 * h) + (51200 + s) * h + 2 * h;
  TestJob job(8, gpt(4, h, a), 8);
  const Plan plan = job.plan("data = 8");
  CHECK(plan.parameters == parameters);
  CHECK(at_peak(plan.program, 0, MemoryCategory::weights) == 2 * parameters);
  CHECK(at_peak(plan.program, 0, MemoryCategory::gradients) == 4 * parameters);
  CHECK(at_peak(plan.program, 0, MemoryCategory::optimizer_state) == 12 * parameters);
  const Plan cut = job.plan("data = 8\ndistributed_optimizer = true\ngradient_precision = \"fp16\"");
  CHECK(at_peak(cut.program, 0, MemoryCategory::gradients) == 2 * parameters);
  CHECK(at_peak(cut.program, 0, MemoryCategory::optimizer_state) == 12 * ((parameters + 7) / 8));
  // Moments of two bytes, and FP32 weights: 2 x 2 + 4.
  const Plan lean = job.plan("data = 8\nmoment_precision = \"fp16\"");
  CHECK(at_peak(lean.program, 0, MemoryCategory::optimizer_state) == 8 * parameters);
  // No copy of the weights: two FP32 moments.
  const Plan bare = job.plan("data = 8\nmaster_weights = \"none\"");
  CHECK(at_peak(bare.program, 0, MemoryCategory::optimizer_state) == 8 * parameters);
  (void)job.plan("data = 8\nmaster_weights = \"remainder\"");
  REQUIRE(job.diagnostics.errors().size() == 1);
  CHECK(job.diagnostics.errors()[0].find("\"remainder\" makes FP32 of BF16: workload.datatype is \"fp16\"") !=
        std::string::npos);
}

TEST_CASE("exchanges between stages may cost the host some time") {
  TestJob job(2, gpt(4, h, a), 8);
  const auto pauses = [&](const std::string& keys) {
    const Plan plan = job.plan("pipeline = 2\n" + keys);
    std::int64_t found = 0;
    for (const auto& operation : plan.program.operators)
      found += operation.kind == workload::OperatorKind::host ? operation.host_time : 0;
    return found;
  };
  // Equal operators are stored once.
  CHECK(pauses("exchange_overhead = \"380 us\"") == 380'000'000);
  CHECK(pauses("") == 0);
}

TEST_CASE("the host waits for no end of sends that are posted alone") {
  // Of zb-h1 the first stage posts activations behind every forward pass, the last one gradients: what they wait for
  // are 8 gradients, and 8 activations.
  TestJob job(2, gpt(4, h, a), 8);
  for (const program::DeviceId device : {0, 1}) {
    const auto times = [&](const std::string& keys) {
      const Plan plan = job.plan("pipeline = 2\nschedule = \"zb-h1\"\n" + keys);
      return program::totals(plan.program, job.machine, device).instructions;
    };
    CHECK(times("exchange_overhead = \"380 us\"") - times("") == 8);
  }
}

TEST_CASE("gradients may be reduced whole and in another precision than they are added up in") {
  TestJob job(8, gpt(4, h, a), 8);
  const std::string cut = "data = 8\ndistributed_optimizer = true\ngradient_precision = \"fp16\"\n";
  const auto sent = [&](const std::string& keys) {
    return program::totals(job.plan(cut + keys).program, job.machine, 0).bytes_sent;
  };
  // P parameters over 8 replicas: a ring sends 7/8 of the buffer to reduce-scatter it, as much again for an all-reduce;
  // twice of all that in FP32. P is a multiple of 8, so that all parts are alike.
  const std::int64_t parameters = 4 * (12 * h * h + 13 * h) + (51200 + s) * h + 2 * h;
  REQUIRE(parameters % 8 == 0);
  const std::int64_t scatter = 2 * parameters / 8 * 7;
  CHECK(sent("gradient_reduction = \"all-reduce\"") - sent("") == scatter);
  CHECK(sent("reduction_precision = \"fp32\"") - sent("") == scatter);
  CHECK(sent("gradient_reduction = \"all-reduce\"\nreduction_precision = \"fp32\"") - sent("") == 3 * scatter);
  CHECK(sent("reduction_precision = \"fp16\"") == sent(""));
  (void)job.plan(cut + "overlap_gradient_reduction = true\nreduction_precision = \"fp32\"");
  REQUIRE(job.diagnostics.errors().size() == 1);
  CHECK(job.diagnostics.errors()[0].find("strategy.toml:5:23: overlap_gradient_reduction reduces") == 0);
}

TEST_CASE("the tied embedding is held, and counted, on the first and on the last stage") {
  TestJob job(2, gpt(2, h, a), 2);
  const Plan plan = job.plan("pipeline = 2");
  const std::int64_t layer = 12 * h * h + 13 * h;
  CHECK(at_peak(plan.program, 0, MemoryCategory::weights) == 2 * (layer + (51200 + s) * h));
  CHECK(at_peak(plan.program, 1, MemoryCategory::weights) == 2 * (layer + 51200 * h + 2 * h));
  // Its gradient is added up between the two: a ring of two sends its size once from each.
  const program::ProgramTotals tied = program::totals(plan.program, job.machine, 0);
  job.model.tied_embeddings = false;
  const Plan apart = job.plan("pipeline = 2");
  CHECK(tied.bytes_sent - program::totals(apart.program, job.machine, 0).bytes_sent == 4 * 51200 * h);
}

TEST_CASE("tensor-parallel traffic of a layer") {
  const std::int64_t activation = 2 * s * h;  // bytes of s x b x h
  const std::int64_t all_reduce = 2 * (t - 1) * activation / t;
  // Full recomputation: two all-reduces forward, two when recomputing, two backward.
  const auto full = traffic(8, "recomputation = \"full\"");
  const auto less = traffic(4, "recomputation = \"full\"");
  CHECK(full.bytes_sent - less.bytes_sent == 4 * 6 * all_reduce);
  CHECK(full.messages - less.messages == 4 * 6 * 2 * (t - 1));
  // Sequence parallelism with selective recomputation: two all-gathers and two reduce-scatters forward; backward the
  // same, and the stored inputs of the two column-parallel layers gathered again: ten halves of an all-reduce. Norms
  // and biases (6 h parameters, FP32 gradients) are summed over the tensor ranks at the end, whatever their number at
  // once.
  const std::string selective = "sequence_parallel = true\nrecomputation = \"selective\"";
  const auto sequence = traffic(8, selective);
  const auto shorter = traffic(4, selective);
  const std::int64_t replicated = 2 * (t - 1) * (4 * 6 * h) / t;
  CHECK(sequence.bytes_sent - shorter.bytes_sent == 4 * (10 * all_reduce / 2 + replicated));
  CHECK(sequence.messages - shorter.messages == 4 * 10 * (t - 1));
  // Whether it overlaps with the weight gradient changes nothing of that.
  CHECK(traffic(8, selective + "\noverlap_tensor_communication = false").bytes_sent == sequence.bytes_sent);
}

TEST_CASE("pipeline messages carry s b h / t, gathered inside the node on arrival") {
  // Two stages of one layer, one micro-batch, no tied embedding.
  TestJob job(16, gpt(2, h, a), 1);
  job.model.tied_embeddings = false;
  const auto sent = [&](const std::string& more) {
    const Plan plan = job.plan("tensor = 8\npipeline = 2\n" + more);
    job.diagnostics.throw_if_errors();
    return program::totals(plan.program, job.machine, 0).bytes_sent;
  };
  const std::int64_t activation = 2 * s * h;
  const std::int64_t half = (t - 1) * activation / t;  // what a rank sends in an all-gather or reduce-scatter
  const std::int64_t message = activation / t;
  // Two sums of one number over 16 devices: the root of the tree sends each to its four children.
  const std::int64_t scalars = 2 * 4 * 4;
  // First stage: the sum of the embedding, two all-reduces forward, two backward; it sends one activation and gathers
  // one gradient.
  CHECK(sent("") == 5 * 2 * half + message + half + scalars);
  // Sequence parallelism: nothing to gather from the pipeline; 4 halves forward, 6 backward, the embedding's all-reduce
  // and the all-gather of its gradient. 6 h parameters of norms and biases and s h of positions are summed.
  const std::int64_t replicated = 2 * (t - 1) * 4 * (6 * h + s * h) / t;
  CHECK(sent("sequence_parallel = true") == 10 * half + 2 * half + half + message + replicated + scalars);
}

TEST_CASE("FLOP are those of Korthikanti et al. 2022, appendix A") {
  const double v = 51200;
  const double L = 4;
  const double dense = 72 * L * h * h;
  // A token: 72 L h^2 (1 + s/6h + v/12hL); full recomputation adds a third of the layers' part.
  const double attention = s / (6.0 * h);
  const double logits = v / (12 * h * L);
  CHECK(flops_per_token("none", false) == Approx(dense * (1 + attention + logits)));
  CHECK(flops_per_token("none", true) == Approx(dense * (1 + attention + logits)));
  CHECK(flops_per_token("full", false) == Approx(dense * (1 + attention + logits)));
  CHECK(flops_per_token("full", true) == Approx(dense * (4.0 / 3 * (1 + attention) + logits)));
  // Selective: scores and context once more forward, 4 s h a layer. (The paper's formula counts it three times.)
  CHECK(flops_per_token("selective", true) == Approx(dense * (1 + attention * 4 / 3 + logits)));
}

TEST_CASE("every combination gives a sound program") {
  for (const std::string recomputation : {"none", "selective", "full"}) {
    for (const std::string cut :
         {"", "tensor = 8", "tensor = 8\nsequence_parallel = true", "pipeline = 4", "tensor = 2\npipeline = 4",
          "tensor = 2\npipeline = 2\ndata = 4\nsequence_parallel = true", "tensor = 4\npipeline = 4\ninterleave = 2",
          "pipeline = 2\ninterleave = 4\nmicro_batch = 2", "schedule = \"gpipe\"\npipeline = 8"}) {
      for (const std::string gradients :
           {"", "distributed_optimizer = true", "overlap_gradient_reduction = true",
            "overlap_gradient_reduction = true\ndistributed_optimizer = true\noverlap_tensor_communication = false"}) {
        CAPTURE(recomputation, cut, gradients);
        TestJob job(16, gpt(8, 512, 8, 1024), 64);
        job.workload.sequence = 128;
        const Plan plan = job.plan(cut + "\n" + gradients + "\nrecomputation = \"" + recomputation + "\"");
        CHECK(job.diagnostics.errors() == std::vector<std::string>{});
        CHECK(program::check_program(plan.program, job.machine) == std::vector<std::string>{});
      }
    }
  }
}

TEST_CASE("a trillion parameters on 3,072 devices make a program of a few thousand instructions") {
  TestJob job(3072, gpt(128, 25600, 160), 3072);
  const Plan plan = job.plan("tensor = 8\npipeline = 64\nsequence_parallel = true\nrecomputation = \"selective\"");
  job.diagnostics.throw_if_errors();
  std::size_t instructions = 0;
  for (const program::Block& block : plan.program.blocks) instructions += block.code.size();
  CHECK(instructions < 4000);
  CHECK(plan.program.operators.size() < 200);
  // Stages differ by the length of their warm-up; replicas and tensor ranks share their code.
  for (std::size_t device = 0; device < 3072; device += 48) {
    CHECK(plan.program.devices[device].streams == plan.program.devices[device + 47].streams);
  }
}

TEST_CASE("overlapping changes when gradients are reduced, not what") {
  TestJob job(8, gpt(8, 512, 8, 1024), 64);
  job.workload.sequence = 128;
  const std::string cut = "pipeline = 2\ninterleave = 2\ndata = 4\n";
  const Plan plain = job.plan(cut);
  const Plan overlapped = job.plan(cut + "overlap_gradient_reduction = true");
  REQUIRE(overlapped.program.devices[0].streams.size() == plain.program.devices[0].streams.size() + 1);
  for (const program::DeviceId device : {0U, 7U}) {
    CHECK(program::totals(overlapped.program, job.machine, device).bytes_sent ==
          program::totals(plain.program, job.machine, device).bytes_sent);
  }
}

}  // namespace tessera::strategy
