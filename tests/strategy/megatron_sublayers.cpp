// Strategy megatron with its summed GEMMs at transaction level, and with attention that is not cut.
#include <catch2/catch.hpp>

#include "jobs.hpp"

using namespace tessera;
using strategy::TestJob;

namespace {

/// One layer of H = 1024 on eight GPUs that know their transactions; 2 sequences of 256 tokens.
TestJob job(workload::Phase phase) {
  TestJob job(8, strategy::gpt(1, 1024, 8), 2);
  job.workload.sequence = 256;
  job.workload.phase = phase;
  job.machine.device.peak["fp16"] = FlopPerSecond{100'000'000'000'000};
  job.machine.device.transaction = machine::GpuSpec{};
  return job;
}

const std::string cut = "name = \"megatron\"\ntensor = 8\nmicro_batch = 2\n";

struct Kernels {
  std::vector<std::int64_t> depths;  ///< of the GEMMs, in order
  int reduce_scatters = 0, all_gathers = 0;
};

/// Those that stand in blocks, in the order in which blocks were made: forward, backward, head.
Kernels kernels(const program::Program& program) {
  Kernels found;
  for (const program::Block& block : program.blocks) {
    for (const program::Instruction& instruction : block.code) {
      if (instruction.op != program::Op::kernel) continue;
      const program::Kernel& kernel = program.kernels[instruction.a];
      if (const auto* gemm = std::get_if<program::GemmKernel>(&kernel.work)) {
        found.depths.push_back(gemm->shape.k);
      } else {
        const auto& copy = std::get<program::CopyKernel>(kernel.work);
        ++(copy.kind == program::CopyKind::reduce_scatter ? found.reduce_scatters : found.all_gathers);
      }
    }
  }
  return found;
}

std::int64_t collectives_of(const program::Program& program, program::CollectiveKind kind) {
  return std::count_if(program.collectives.begin(), program.collectives.end(),
                       [&](const program::Collective& one) { return one.kind == kind; });
}

std::int64_t flops_of(const program::Program& program, const std::string& name) {
  for (const workload::Operator& op : program.operators) {
    if (op.name == name) return op.flops;
  }
  return 0;
}

}  // namespace

TEST_CASE("sub-layers as kernels: projection and FC-2 forward; FC-1 and QKV, and the logits, backward") {
  using Depths = std::vector<std::int64_t>;
  // Depths on one of eight ranks: projection 1024/8, FC-2 and FC-1 4096/8, QKV 3072/8; logits 51200/8.
  const std::pair<workload::Phase, Depths> phases[] = {{workload::Phase::prompt, {128, 512}},
                                                       {workload::Phase::training, {128, 512, 512, 384, 6400}}};
  for (const auto& [phase, depths] : phases) {
    for (const std::string configuration : {"sequential", "t3", "t3-mca"}) {
      CAPTURE(configuration);
      TestJob one = job(phase);
      const auto plan = one.plan(cut + "sublayers = \"" + configuration + "\"");
      REQUIRE(one.diagnostics.ok());
      CHECK(program::check_program(plan.program, one.machine).empty());
      const Kernels found = kernels(plan.program);
      CHECK(found.depths == depths);
      const auto count = static_cast<int>(depths.size());
      CHECK(found.reduce_scatters == (configuration == "sequential" ? count : 0));  // else within the GEMM
      CHECK(found.all_gathers == count);
    }
  }
}

TEST_CASE("sub-layers as kernels: the same work as by operators") {
  for (const auto phase : {workload::Phase::prompt, workload::Phase::training}) {
    TestJob one = job(phase);
    const auto plain = one.plan(cut);
    const auto kernels = one.plan(cut + "sublayers = \"t3\"");
    CHECK(plain.hardware_flops == kernels.hardware_flops);
  }
}

TEST_CASE("sub-layers as kernels: with sequence parallelism the sum stays scattered, collectives gather it") {
  TestJob one = job(workload::Phase::prompt);
  const auto plan = one.plan(cut + "sublayers = \"t3\"\nsequence_parallel = true");
  REQUIRE(one.diagnostics.ok());
  CHECK(program::check_program(plan.program, one.machine).empty());
  CHECK(kernels(plan.program).all_gathers == 0);
  CHECK(collectives_of(plan.program, program::CollectiveKind::all_gather) > 0);
  CHECK(collectives_of(plan.program, program::CollectiveKind::reduce_scatter) == 0);
}

TEST_CASE("sub-layers as kernels: one tensor rank has nothing to sum") {
  TestJob one = job(workload::Phase::prompt);
  one.workload.global_batch = 8;
  const auto plan = one.plan("name = \"megatron\"\nsublayers = \"t3\"");
  REQUIRE(one.diagnostics.ok());
  CHECK(plan.program.kernels.empty());
  CHECK_FALSE(plan.program.operators.empty());
}

TEST_CASE("sub-layers as kernels: a device without transactions is refused") {
  TestJob one = job(workload::Phase::prompt);
  one.machine.device.transaction.reset();
  static_cast<void>(one.plan(cut + "sublayers = \"t3\""));
  CHECK(one.diagnostics.errors() ==
        std::vector<std::string>{"strategy.toml:4:13: sublayers = \"t3\": the device has no table "
                                 "[machine.device.transaction]"});
}

TEST_CASE("attention that is not cut: each rank computes the scores of all heads") {
  TestJob one = job(workload::Phase::prompt);
  const auto split = one.plan(cut);
  const auto whole = one.plan(cut + "attention = \"whole\"");
  REQUIRE(one.diagnostics.ok());
  // 2 sequences x 8 heads x 256 x 256 x 128 multiply-adds, and an eighth of it.
  CHECK(flops_of(whole.program, "scores") == 2LL * 2 * 8 * 256 * 256 * 128);
  CHECK(flops_of(split.program, "scores") == flops_of(whole.program, "scores") / 8);
  CHECK(flops_of(split.program, "qkv") == flops_of(whole.program, "qkv"));
  // And holds the keys and values of all of them.
  CHECK(strategy::at_peak(whole.program, 0, program::MemoryCategory::kv_cache) ==
        8 * strategy::at_peak(split.program, 0, program::MemoryCategory::kv_cache));
}
