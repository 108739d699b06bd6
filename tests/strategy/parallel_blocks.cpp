// Attention and MLP side by side on tensor ranks, and gradients that each rank has a part of.
#include <catch2/catch.hpp>

#include "jobs.hpp"

namespace tessera::strategy::side_by_side {
namespace {

using program::CollectiveKind;
using workload::LayerOperators;
using workload::ParallelBlock;
using Kinds = std::vector<CollectiveKind>;

constexpr auto gather = CollectiveKind::all_gather;
constexpr auto scatter = CollectiveKind::reduce_scatter;
constexpr auto reduce = CollectiveKind::all_reduce;

/// Four tensor ranks; tokens x hidden of FP16 are 1024 x 512 x 2 B = 1 MiB.
TestJob job_of(ParallelBlock block) {
  workload::Model model = gpt(4, 512, 8);
  model.parallel_block = block;
  TestJob job(4, std::move(model), 8);
  job.workload.sequence = 1024;
  job.machine.device.peak["fp16"] = FlopPerSecond{100'000'000'000'000};
  return job;
}

const std::string cut = "tensor = 4\nmicro_batch = 1\n";

LayerProfile layer_of(ParallelBlock block, const std::string& keys) {
  TestJob job = job_of(block);
  const program::search::Evaluations own = job.evaluations();
  const auto table = config::parse_toml(cut + keys, "strategy.toml", job.diagnostics);
  const Job asked = job.job_with(own);
  static_cast<void>(megatron::kind().check(*table, asked, job.diagnostics));
  REQUIRE(job.diagnostics.errors().empty());
  return megatron::kind().profile(*table, asked).layers.front();
}

Kinds kinds_of(const Work& work) {
  Kinds kinds;
  for (const GroupWork& one : work.collectives) {
    CHECK(one.collective.bytes.value() == 1 << 20);
    kinds.push_back(one.collective.kind);
  }
  return kinds;
}

Kinds of_section(const LayerProfile& layer, workload::LayerSection section) {
  return kinds_of(layer.sections.at(workload::place_of(section)));
}

TEST_CASE("side by side from one norm: one gather and one sum, where in turn there are two") {
  const std::string sequence =
      GENERATE("sequence_parallel = true\n", "sequence_parallel = true\noverlap_tensor_communication = false\n");
  const LayerProfile layer = layer_of(ParallelBlock::one_norm, sequence);
  CHECK(of_section(layer, &LayerOperators::qkv) == Kinds{gather});
  CHECK(of_section(layer, &LayerOperators::projection).empty());
  CHECK(of_section(layer, &LayerOperators::fc1).empty());
  CHECK(of_section(layer, &LayerOperators::fc2) == Kinds{scatter});
  // The gradient of the sum and the MLP's input are gathered, attention's linear sums the gradient of both.
  CHECK(kinds_of(layer.backward) == Kinds{gather, gather, scatter});
  const LayerProfile in_turn = layer_of(ParallelBlock::none, sequence);
  CHECK(kinds_of(in_turn.backward) == Kinds{gather, gather, scatter, gather, gather, scatter});
}

TEST_CASE("side by side from two norms: each input is gathered and its gradient summed") {
  const LayerProfile layer = layer_of(ParallelBlock::two_norms, "sequence_parallel = true\n");
  CHECK(of_section(layer, &LayerOperators::qkv) == Kinds{gather});
  CHECK(of_section(layer, &LayerOperators::fc1) == Kinds{gather});
  CHECK(of_section(layer, &LayerOperators::projection).empty());
  CHECK(of_section(layer, &LayerOperators::fc2) == Kinds{scatter});
  CHECK(kinds_of(layer.backward) == Kinds{gather, gather, scatter, gather, scatter});
}

TEST_CASE("side by side without sequence parallelism: one all-reduce each way, or two back from two norms") {
  const LayerProfile one = layer_of(ParallelBlock::one_norm, "");
  CHECK(kinds_of(one.forward()) == Kinds{reduce});
  CHECK(kinds_of(one.backward) == Kinds{reduce});
  const LayerProfile two = layer_of(ParallelBlock::two_norms, "overlap_tensor_communication = false\n");
  CHECK(kinds_of(two.forward()) == Kinds{reduce});
  CHECK(kinds_of(two.backward) == Kinds{reduce, reduce});
}

std::string refusal(ParallelBlock block, const std::string& keys) {
  TestJob job = job_of(block);
  static_cast<void>(job.plan(cut + keys));
  return job.diagnostics.errors().empty() ? "" : job.diagnostics.errors().front();
}

TEST_CASE("side by side: what knows no such layers refuses them by key") {
  const std::string why = "the model's attention and MLP are summed together (parallel_block), allowed: ";
  CHECK(refusal(ParallelBlock::one_norm, "sequence_parallel = true\nuser_buffers = true") ==
        "strategy.toml:4:16: " + why + "user_buffers = false");
  CHECK(refusal(ParallelBlock::two_norms, "sequence_parallel = true\ntensor_rows = 2") ==
        "strategy.toml:4:15: " + why + "tensor_rows = 1");
  CHECK(refusal(ParallelBlock::one_norm, "recomputed_sections = [\"fc2\"]") ==
        "strategy.toml:3:23: recomputed_sections: of a parallel block with one norm qkv, attention_core, fc1 and "
        "activation run again, or all sections");
  CHECK(refusal(ParallelBlock::one_norm, "recomputed_sections = [\"fc1\", \"activation\"]").empty());
}

/// All-reduces among the tensor ranks of so many bytes in the whole program.
std::int64_t reductions_of(const program::Program& program, std::int64_t bytes) {
  std::int64_t found = 0;
  for (const program::Collective& one : program.collectives)
    if (one.kind == reduce && one.bytes.value() == bytes) ++found;
  return found;
}

TEST_CASE("norms that heads share: each rank has a part of their gradients, tokens cut or not") {
  TestJob job = job_of(ParallelBlock::none);
  job.workload.sequence = 512;  // so that the loss reduces other sizes
  CHECK(reductions_of(job.plan(cut).program, 4 * 4 * 2 * 2 * 64) == 0);
  job.model.query_key_norm = workload::QueryKeyNorm::shared;
  // 4 layers, weight and bias of queries and of keys, 64 elements each, gradients of 4 B.
  CHECK(reductions_of(job.plan(cut).program, 4 * 4 * 2 * 2 * 64) == 1);
  CHECK(job.diagnostics.errors().empty());
}

}  // namespace
}  // namespace tessera::strategy::side_by_side
