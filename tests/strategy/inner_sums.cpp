// Sums over tensor ranks amid a section: where they stand in a layer's passes, and who refuses them.
#include <catch2/catch.hpp>

#include <algorithm>

#include "jobs.hpp"
#include "tessera/strategy/profile.hpp"

namespace tessera::strategy {
namespace {
namespace inner_sums {

using Names = std::vector<std::string>;

/// 1024 tokens of FP16 and 512 columns on four tensor ranks; whole-width norms sum 2 x 4 B of each token.
constexpr std::int64_t tokens = 1024, inner = 2 * 4 * tokens;

TestJob job_of(workload::QueryKeyNorm norms) {
  workload::Model model = gpt(4, 512, 8);
  model.norm = workload::Norm::rmsnorm;
  model.query_key_norm = norms;
  TestJob job(4, std::move(model), 8);
  job.workload.sequence = tokens;
  job.machine.device.peak["fp16"] = FlopPerSecond{100'000'000'000'000};
  return job;
}

const std::string cut = "tensor = 4\nmicro_batch = 1\n";

struct Found {
  std::int64_t forward = 0, backward = 0;  ///< sums of so many bytes in a layer
};

std::int64_t inner_of(const Work& work) {
  return std::ranges::count_if(work.collectives, [](const GroupWork& one) {
    return one.collective.kind == program::CollectiveKind::all_reduce && one.collective.bytes.value() == inner &&
           one.collective.element.value() == 4 && one.ranks.size() == 4;
  });
}

Found found_of(workload::QueryKeyNorm norms, const std::string& keys) {
  TestJob job = job_of(norms);
  const program::search::Evaluations own = job.evaluations();
  const auto table = config::parse_toml(cut + keys, "strategy.toml", job.diagnostics);
  const Job asked = job.job_with(own);
  static_cast<void>(megatron::kind().check(*table, asked, job.diagnostics));
  REQUIRE(job.diagnostics.errors() == Names{});
  const LayerProfile layer = megatron::kind().profile(*table, asked).layers.front();
  CHECK(inner_of(layer.sections.at(workload::place_of(&workload::LayerOperators::qkv))) == inner_of(layer.forward()));
  return {inner_of(layer.forward()), inner_of(layer.backward)};
}

TEST_CASE("norms over all heads: one small sum each way in a layer, however its products are run") {
  const std::string keys = GENERATE("", "sequence_parallel = true\n", "overlap_tensor_communication = false\n",
                                    "sequence_parallel = true\nuser_buffers = true\n", "attention = \"whole\"\n");
  CAPTURE(keys);
  const Found whole = found_of(workload::QueryKeyNorm::whole_width, keys);
  CHECK((whole.forward == 1 && whole.backward == 1));
  const Found heads = found_of(workload::QueryKeyNorm::per_head, keys);
  CHECK((heads.forward == 0 && heads.backward == 0));
}

/// What the block with that name runs, and communicates.
Names order_of(const program::Program& program, const std::string& block) {
  Names names;
  const auto found = std::ranges::find(program.blocks, block, &program::Block::name);
  REQUIRE(found != program.blocks.end());
  for (const program::Instruction& one : found->code)
    if (one.op == program::Op::compute || one.op == program::Op::collective) names.push_back(program.labels[one.label]);
  return names;
}

TEST_CASE("the sum stands between what makes its numbers and the norms") {
  TestJob job = job_of(workload::QueryKeyNorm::whole_width);
  const Plan plan = job.plan(cut + "overlap_tensor_communication = false");
  REQUIRE(job.diagnostics.errors() == Names{});
  const Names forward = order_of(plan.program, "layer forward");
  const auto sum = std::ranges::find(forward, "inner all-reduce");
  REQUIRE(forward.end() - sum > 2);
  CHECK(Names(sum - 2, sum + 3) ==
        Names{"query norm statistics", "key norm statistics", "inner all-reduce", "query norm", "key norm"});
  const Names backward = order_of(plan.program, "layer backward");
  const auto back = std::ranges::find(backward, "key norm statistics dgrad");
  REQUIRE(backward.end() - back > 2);
  CHECK(Names(back, back + 3) == Names{"key norm statistics dgrad", "inner all-reduce", "query norm dgrad"});
}

/// All-reduces of so many bytes that one device takes part in.
std::int64_t sums_of(const std::string& keys, workload::Phase phase = workload::Phase::training) {
  TestJob job = job_of(workload::QueryKeyNorm::whole_width);
  job.workload.phase = phase;
  const Plan plan = job.plan(cut + keys);
  CAPTURE(keys);
  REQUIRE(job.diagnostics.errors() == Names{});
  CHECK(program::check_program(plan.program, job.machine) == Names{});
  const auto totals = program::totals(plan.program, job.machine, 0);
  TestJob none = job_of(workload::QueryKeyNorm::per_head);
  none.workload.phase = phase;
  const Plan without = none.plan(cut + keys);
  // A ring's share of an all-reduce: 2 (4 - 1) / 4 of the message.
  const auto more = totals.bytes_sent - program::totals(without.program, none.machine, 0).bytes_sent;
  CHECK(more % (inner * 6 / 4) == 0);
  return static_cast<std::int64_t>(more / (inner * 6 / 4));
}

TEST_CASE("as many small sums as layers, passes and micro-batches, and again where queries run again") {
  CHECK(sums_of("", workload::Phase::prompt) == 4 * 8);
  CHECK(sums_of("") == 4 * 8 * 2);
  CHECK(sums_of("recomputation = \"full\"") == 4 * 8 * 3);
  CHECK(sums_of("recomputed_sections = [\"qkv\"]") == 4 * 8 * 3);
  CHECK(sums_of("recomputation = \"selective\"") == 4 * 8 * 2);
}

TEST_CASE("what knows no sums amid a section refuses them by key") {
  const auto errors = [](const std::string& keys) {
    TestJob job = job_of(workload::QueryKeyNorm::whole_width);
    static_cast<void>(job.plan(cut + "sequence_parallel = true\n" + keys));
    return job.diagnostics.errors();
  };
  const std::string why =
      "tensor ranks sum amid a section of the model's layers (query_key_norm = \"whole-width\"), allowed: ";
  CHECK(errors("tensor_rows = 2") == Names{"strategy.toml:4:15: " + why + "tensor_rows = 1"});
  const Names kernels = errors("sublayers = \"t3\"");  // a device without such kernels is an error besides
  CHECK(std::ranges::count(kernels, "strategy.toml:4:13: " + why + "sublayers = \"operators\"") == 1);
}

}  // namespace inner_sums
}  // namespace
}  // namespace tessera::strategy
