// Training and serving with operands of fewer bits: memory, messages, and what cannot be.
#include <catch2/catch.hpp>

#include "strategy/jobs.hpp"
#include "tessera/base/error.hpp"

namespace tessera::strategy {
namespace {

using program::MemoryCategory;
using workload::OperandType;

/// A GPT of four layers of 512, on devices that know FP8.
TestJob job_in_fp8(std::uint32_t devices, std::int64_t batch) {
  TestJob job(devices, gpt(4, 512, 8, 1024), batch);
  job.machine.device.peak["fp8"] = FlopPerSecond{400'000'000'000'000};
  job.machine.device.peak["bf16"] = FlopPerSecond{200'000'000'000'000};
  job.workload.datatype = "bf16";
  job.workload.flash_attention = true;
  job.workload.product_datatype = OperandType::fp8;
  return job;
}

constexpr std::int64_t products = 4LL * 12 * 512 * 512;  // QKV 3, projection 1, MLP 8 h^2

std::int64_t held(TestJob& job, const std::string& keys, MemoryCategory category) {
  const Plan plan = job.plan(keys);
  job.diagnostics.throw_if_errors();
  return at_peak(plan.program, 0, category);
}

/// All cuts are as fast.
class AnyTime final : public program::Evaluator {
 public:
  program::Evaluation evaluate(const program::Program&, program::Fidelity, Communicator&) override {
    return {true, "", 1};
  }
  [[nodiscard]] int most_ranks() const override { return 1; }
};

std::string problem_of(TestJob& job, const std::string& keys) {
  try {
    static_cast<void>(job.plan(keys));
  } catch (const KeyError& error) {
    return error.key + ": " + error.what();
  }
  return job.diagnostics.errors().size() == 1 ? job.diagnostics.errors()[0] : "none, or several";
}

}  // namespace

TEST_CASE("FP8: both casts of weights are held beside them, or in their place") {
  TestJob job = job_in_fp8(1, 1);
  job.workload.product_datatype = OperandType::same;
  const std::int64_t plain = held(job, "", MemoryCategory::weights);
  job.workload.product_datatype = OperandType::fp8;
  CHECK(held(job, "", MemoryCategory::weights) == plain + 2 * products);
  job.workload.weight_datatype = OperandType::fp8;
  CHECK(held(job, "", MemoryCategory::weights) == plain);  // two bytes either way: BF16, or two casts
  job.workload.phase = workload::Phase::prompt;
  CHECK(held(job, "", MemoryCategory::weights) == plain - products);
  job.workload.weight_datatype = OperandType::fp4;
  CHECK(held(job, "", MemoryCategory::weights) == plain - products - products / 2);
}

TEST_CASE("FP8: weights that are kept so are gathered so") {
  TestJob job = job_in_fp8(2, 2);
  const std::string keys = "data = 2\ndistributed_optimizer = true\n";
  const auto sent = [&] { return sent_by(job, keys); };
  const std::int64_t whole = sent();
  job.workload.weight_datatype = OperandType::fp8;
  // Of two replicas each sends its half: half a byte a weight less.
  CHECK(whole - sent() == products / 2);
}

TEST_CASE("FP8: tensor ranks gather bytes, and sum numbers of two bytes") {
  TestJob job = job_in_fp8(2, 1);
  job.workload.sequence = 64;
  const std::string keys = "tensor = 2\nsequence_parallel = true\n";
  const auto sent = [&] { return sent_by(job, keys); };
  const std::int64_t whole = sent();
  job.workload.gathers_operands = true;
  // Six gathers a layer (QKV and fc1 twice, gradients of projection and fc2 once): a rank sends its half of 64 x 512
  // numbers, a byte less of each.
  CHECK(whole - sent() == 4 * 6 * 64 * 512 / 2);
}

TEST_CASE("FP8: shared experts gather bytes as a dense MLP does, and copies for the others as they are") {
  TestJob job = job_in_fp8(2, 1);
  workload::Model model = mixture(2, 4);
  model.layer_kinds[1].shared_experts = 1;
  job.model = model;
  job.workload.sequence = 64;
  const std::string keys = "tensor = 2\nsequence_parallel = true\n";
  const auto sent = [&] { return sent_by(job, keys); };
  const std::int64_t whole = sent();
  job.workload.gathers_operands = true;
  // Six gathers of the dense layer and six of the other one, three of them of its shared expert: its input twice, the
  // gradient of what it makes once.
  CHECK(whole - sent() == 2 * 6 * 64 * 512 / 2);
}

TEST_CASE("FP8: what is gathered for sections that run again is gathered in bytes too") {
  TestJob job = job_in_fp8(2, 1);
  job.workload.sequence = 64;
  const auto sent = [&](const std::string& more) {
    return sent_by(job, "tensor = 2\nsequence_parallel = true\n" + more);
  };
  const std::string again = "recomputed_sections = [\"fc1\", \"activation\"]";
  job.workload.gathers_operands = true;
  // fc1 gathers its input once more in each of four layers: half of 64 x 512 numbers, a byte each.
  CHECK(sent(again) - sent("") == 4 * 64 * 512 / 2);
}

TEST_CASE("FP8: activations at the peak are what the layers keep, by hand") {
  TestJob job = job_in_fp8(1, 1);
  job.model = gpt(1, 512, 8, 1024);
  job.model.dropout = false;
  job.workload.sequence = 64;
  const std::int64_t whole = held(job, "", MemoryCategory::activations);
  job.workload.product_datatype = OperandType::same;
  // Of each of 64 tokens: casts of the inputs of QKV, projection, fc1 (512 each) and fc2 (2048) in the place of numbers
  // of two bytes, and the core's output (512) in two bytes beside the projection's cast.
  CHECK(held(job, "", MemoryCategory::activations) - whole == 64 * (3 * 512 + 2048) - 64 * 2 * 512);
  // All of it again: the layer's input alone is kept, of two bytes, whatever products are in.
  const std::string full = "recomputation = \"full\"";
  const std::int64_t plain = held(job, full, MemoryCategory::activations);
  job.workload.product_datatype = OperandType::fp8;
  CHECK(plain - held(job, full, MemoryCategory::activations) == 64 * (3 * 512 + 2048) - 64 * 2 * 512);
}

TEST_CASE("FP8: products do as much as in 16 bits, however they are cut") {
  workload::Model experts = mixture(4, 4);
  experts.layer_kinds[1].shared_experts = 1;
  workload::Model latent = gpt(4, 512, 8, 1024);
  latent.query_rank = 64;
  latent.kv_rank = 32;
  latent.rotary_dim = 16;
  latent.bias = latent.qkv_bias = false;
  latent.position = workload::PositionEmbedding::rotary;
  for (const workload::Model& model : {gpt(4, 512, 8, 1024), experts, latent}) {
    for (const std::string keys : {"data = 4\ndata_sharding = \"parameters\"", "tensor = 4\nsequence_parallel = true",
                                   "tensor = 2\nsequence_parallel = true\npipeline = 2\nrecomputation = \"full\"",
                                   "tensor = 2\nsequence_parallel = true\nrecomputed_sections = [\"mlp_norm\"]"}) {
      CAPTURE(keys, model.kv_rank, model.layer_kinds.size());
      TestJob job = job_in_fp8(4, 4);
      job.model = model;
      job.workload.sequence = 64;
      const auto flops = [&] {
        const Plan plan = job.plan(keys);
        job.diagnostics.throw_if_errors();
        CHECK(program::check_program(plan.program, job.machine) == std::vector<std::string>{});
        return std::pair{plan.model_flops, plan.hardware_flops};
      };
      const auto low = flops();
      job.workload.gathers_operands = true;
      CHECK(flops() == low);
      job.workload.product_datatype = OperandType::same;
      CHECK(flops() == low);
    }
  }
}

TEST_CASE("FP8: units that are gathered have both casts of a layer as a buffer") {
  TestJob job = job_in_fp8(2, 2);
  const std::string keys = "data = 2\ndata_sharding = \"parameters\"";
  const std::int64_t low = held(job, keys, MemoryCategory::buffers);
  job.workload.product_datatype = OperandType::same;
  CHECK(low - held(job, keys, MemoryCategory::buffers) == 2 * products / 4);
  job.workload.product_datatype = OperandType::fp8;
  job.workload.scaling = workload::Scaling::blocks;
  // A scale of 4 B for 128 x 128 of the layer's 12 x 512 x 512.
  CHECK(held(job, keys, MemoryCategory::buffers) - low == 2 * 4 * (12 * 512 * 512 / (128 * 128)));
}

TEST_CASE("FP8: what cannot be is refused by its key") {
  TestJob job = job_in_fp8(2, 2);
  CHECK(problem_of(job, "data = 2") == "none, or several");
  CHECK(
      problem_of(job, "tensor = 2\nsequence_parallel = true\ntensor_rows = 2") ==
      "strategy.toml:3:15: operands of workload.product_datatype are not cut in two dimensions, allowed: tensor_rows = "
      "1");
  job.workload.product_datatype = OperandType::int8;
  CHECK(problem_of(job, "") ==
        "workload.product_datatype: \"product_datatype\": \"int8\" in training, allowed: same, fp8");
  job.workload.phase = workload::Phase::prompt;
  job.machine.device.name = "chip";
  CHECK(problem_of(job, "") == "workload.product_datatype: \"product_datatype\": device chip states no peak for int8");
  job = job_in_fp8(2, 2);
  job.workload.weight_datatype = OperandType::int8;
  CHECK(problem_of(job, "") ==
        "workload.weight_datatype: \"weight_datatype\": in training weights are kept in the datatype, or in that of "
        "products");
  job.workload.weight_datatype = OperandType::fp8;
  const std::string kept = "parts of parameters are kept in bf16, and weights of workload.";
  CHECK(problem_of(job, "data_sharding = \"parameters\"") ==
        "strategy.toml:1:17: " + kept + "weight_datatype in fp8, allowed: \"auto\"");
  CHECK(problem_of(job, "weight_streaming = \"devices\"") ==
        "strategy.toml:1:20: " + kept + "weight_datatype in fp8, allowed: \"off\"");
  // Outside training weights are kept in the datatype of products.
  job.workload.weight_datatype = OperandType::same;
  job.workload.phase = workload::Phase::prompt;
  CHECK(problem_of(job, "data_sharding = \"parameters\"") ==
        "strategy.toml:1:17: " + kept + "product_datatype in fp8, allowed: \"auto\"");
  job.workload.product_datatype = OperandType::fp4;
  job.workload.gathers_operands = true;
  job.machine.device.peak["fp4"] = FlopPerSecond{800'000'000'000'000};
  CHECK(
      problem_of(job, "") ==
      "workload.gather_operands: \"gather_operands\": ranks gather whole bytes a number, and not fp4, allowed: false");
}

TEST_CASE("FP8: a search passes over cuts whose parts are kept in 16 bits") {
  TestJob job = job_in_fp8(2, 2);
  job.evaluator = std::make_shared<AnyTime>();
  const auto candidates = [&] {
    const auto table = config::parse_toml("data = 2\ndata_sharding = \"any\"", "strategy.toml", job.diagnostics);
    const auto evaluations = job.evaluations();
    return megatron::kind().search(*table, job.job_with(evaluations)).report->found.judged.size();
  };
  CHECK(candidates() == 3);  // auto, gradients, parameters
  job.workload.weight_datatype = OperandType::fp8;
  CHECK(candidates() == 2);
}

TEST_CASE("FP8: products in chunks move what the whole ones do") {
  TestJob job = job_in_fp8(4, 1);
  job.workload.sequence = 128;
  job.workload.scaling = workload::Scaling::blocks;
  const std::string keys = "tensor = 4\nsequence_parallel = true\nuser_buffers = true";
  CHECK(problem_of(job, keys) ==
        "strategy.toml:3:16: products of workload.product_datatype gather casts in chunks, allowed: false, or "
        "workload.gather_operands = true");
  job.workload.gathers_operands = true;
  const Plan plan = job.plan(keys);
  job.diagnostics.throw_if_errors();
  CHECK(program::check_program(plan.program, job.machine) == std::vector<std::string>{});
  // Of fc2 a chunk has 32 of 128 rows: 32 x 512 bytes in, with 4 scales of 4 B a row, a weight of 512 x 512 with 4 x 4
  // scales, and 32 x 512 numbers of two bytes out.
  const auto found = std::ranges::find(plan.program.operators, "fc2", &workload::Operator::name);
  REQUIRE(found != plan.program.operators.end());
  CHECK(found->m == 32);
  CHECK(found->flops == 2LL * 32 * 512 * 512);
  CHECK(found->scale_bytes == 32 * 4 * 4 + 4 * 16);
  CHECK(found->bytes_read == 32 * 512 + 512 * 512 + found->scale_bytes);
  CHECK(found->bytes_written == 2 * 32 * 512);
}

}  // namespace tessera::strategy
