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
  const auto sent = [&] {
    const Plan plan = job.plan(keys);
    job.diagnostics.throw_if_errors();
    return static_cast<std::int64_t>(program::totals(plan.program, job.machine, 0).bytes_sent);
  };
  const std::int64_t whole = sent();
  job.workload.weight_datatype = OperandType::fp8;
  // Of two replicas each sends its half: half a byte a weight less.
  CHECK(whole - sent() == products / 2);
}

TEST_CASE("FP8: tensor ranks gather bytes, and sum numbers of two bytes") {
  TestJob job = job_in_fp8(2, 1);
  job.workload.sequence = 64;
  const std::string keys = "tensor = 2\nsequence_parallel = true\n";
  const auto sent = [&] {
    const Plan plan = job.plan(keys);
    job.diagnostics.throw_if_errors();
    return static_cast<std::int64_t>(program::totals(plan.program, job.machine, 0).bytes_sent);
  };
  const std::int64_t whole = sent();
  job.workload.gathers_operands = true;
  // Six gathers a layer (QKV and fc1 twice, gradients of projection and fc2 once): a rank sends its half of 64 x 512
  // numbers, a byte less of each.
  CHECK(whole - sent() == 4 * 6 * 64 * 512 / 2);
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
  CHECK(problem_of(job, "data_sharding = \"parameters\"") ==
        "workload.weight_datatype: \"weight_datatype\": parts of parameters are kept in the datatype: data_sharding = "
        "\"auto\", or same");
}

}  // namespace tessera::strategy
