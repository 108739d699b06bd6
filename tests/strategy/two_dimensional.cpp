// Linear layers cut in both dimensions, and what a strategy says of its stages to those that search over its tables.
#include <catch2/catch.hpp>

#include "jobs.hpp"

namespace tessera::strategy {
namespace {

using program::CollectiveKind;
using workload::LayerOperators;

/// Two stages of four ranks; tokens x hidden of FP16 are A = 1024 x 512 x 2 B = 1 MiB.
TestJob job_with_eight(workload::Model model) {
  TestJob job(8, std::move(model), 8);
  job.workload.sequence = 1024;
  job.machine.device.peak["fp16"] = FlopPerSecond{100'000'000'000'000};
  return job;
}

const std::string cut_in_two = "tensor = 4\npipeline = 2\nmicro_batch = 1\nsequence_parallel = true\n";

PipelineProfile profiled(TestJob& job, const std::string& keys) {
  const program::search::Evaluations own = job.evaluations();
  const auto table = config::parse_toml(cut_in_two + keys, "strategy.toml", job.diagnostics);
  const Job asked = job.job_with(own);
  static_cast<void>(megatron::kind().check(*table, asked, job.diagnostics));
  REQUIRE(job.diagnostics.errors().empty());
  return megatron::kind().profile(*table, asked);
}

struct Moved {
  CollectiveKind kind;
  std::int64_t bytes;
  std::vector<std::uint32_t> ranks;
  friend bool operator==(const Moved&, const Moved&) = default;
};

std::vector<Moved> moved_by(const PipelineProfile& profile, workload::LayerSection section) {
  std::vector<Moved> all;
  for (const GroupWork& one : profile.layers.front().sections.at(workload::place_of(section)).collectives)
    all.push_back({one.collective.kind, one.collective.bytes.value(), one.ranks});
  return all;
}

std::string refusal_of(const std::string& keys) {
  TestJob job = job_with_eight(gpt(4, 512, 8));
  static_cast<void>(job.plan(cut_in_two + keys));
  return job.diagnostics.errors().empty() ? "" : job.diagnostics.errors().front();
}

/// Of a stage whose layers all run that set again, by the walk over its program.
std::int64_t peak_with(TestJob& job, const std::string& names, std::uint32_t first_device) {
  const Plan plan = job.plan(cut_in_two + "recomputed_sections = [" + names + "]\n");
  REQUIRE(job.diagnostics.errors().empty());
  return program::memory_peak(plan.program, first_device).total;
}

std::string quoted_names(const workload::Recomputed& recomputed) {
  for (const auto& [named, name] : {std::pair{workload::Recomputation::none, "\"none\""},
                                    std::pair{workload::Recomputation::selective, "\"selective\""},
                                    std::pair{workload::Recomputation::full, "\"full\""}})
    if (recomputed == workload::recomputed_by(named)) return name;
  std::string names;
  for (std::size_t i = 0; i < workload::section_names.size(); ++i)
    if (recomputed.again[i])
      names += (names.empty() ? "\"" : ", \"") + std::string(workload::section_names.at(i)) + "\"";
  return names;
}

void check_memory(TestJob job) {
  const PipelineProfile profile = profiled(job, "");
  REQUIRE(profile.stages.size() == 2);
  for (std::size_t set = 0; set < profile.sets.size(); set += 7) {
    const SetProfile& one = profile.sets[set];
    CAPTURE(quoted_names(one.recomputed));
    for (std::uint32_t stage = 0; stage < 2; ++stage) {
      const StageProfile& at = profile.stages[stage];
      std::int64_t kept = at.edge_kept, again = 0;
      for (std::size_t kind = 0; kind < profile.layers.size(); ++kind) {
        kept += at.layers.at(kind) * one.kept.at(kind);
        if (at.layers.at(kind) > 0) again = std::max(again, one.again.at(kind));
      }
      const std::int64_t in_flight = 2 - stage;  // 1F1B with eight micro-batches
      const std::int64_t most = at.held + in_flight * kept + again;
      const std::int64_t peak = peak_with(job, quoted_names(one.recomputed), 4 * stage);
      // What is made again for a layer meets all that is kept only where it is the first one that goes backward: the
      // head, or a layer of another kind, may have given up what it kept by then.
      const bool is_first = stage == 0 && profile.layers.size() == 1;
      CHECK((is_first ? peak == most : peak <= most && most - peak <= again));
    }
  }
}

}  // namespace

TEST_CASE("two dimensions: products gather over one side of the ranks and sum over the other") {
  TestJob job = job_with_eight(gpt(4, 512, 8));
  const PipelineProfile profile = profiled(job, "tensor_rows = 2\n");
  constexpr std::int64_t a = 1 << 20;
  // Ranks 0 1 stand in the first row, 2 3 in the second: rank 0 has rank 1 beside it and rank 2 below it.
  const std::vector<std::uint32_t> in_row = {0, 1}, in_column = {0, 2};
  // Mean and variance of the 512 tokens of a column, 8 B each; half of the hidden size of all tokens over the row; Q, K
  // and V of half of the heads, 3 A / 2, summed over the column.
  CHECK(moved_by(profile, &LayerOperators::qkv) ==
        std::vector<Moved>{{CollectiveKind::all_reduce, 8 * 512, in_column},
                           {CollectiveKind::all_gather, a / 2, in_row},
                           {CollectiveKind::reduce_scatter, 3 * a / 2, in_column}});
  // Contexts of half of the heads over the column; half of the hidden size summed over the row.
  CHECK(moved_by(profile, &LayerOperators::projection) ==
        std::vector<Moved>{{CollectiveKind::all_gather, a / 2, in_column},
                           {CollectiveKind::reduce_scatter, a / 2, in_row}});
  // The MLP is four times as wide: 4 A / 2 over the column, behind fc1 and before fc2.
  CHECK(moved_by(profile, &LayerOperators::fc1) ==
        std::vector<Moved>{{CollectiveKind::all_reduce, 8 * 512, in_column},
                           {CollectiveKind::all_gather, a / 2, in_row},
                           {CollectiveKind::reduce_scatter, 2 * a, in_column}});
  CHECK(moved_by(profile, &LayerOperators::fc2) == std::vector<Moved>{{CollectiveKind::all_gather, 2 * a, in_column},
                                                                      {CollectiveKind::reduce_scatter, a / 2, in_row}});
  // With one row it is Megatron-LM's cut: all of A over all four.
  const PipelineProfile flat = profiled(job, "");
  CHECK(moved_by(flat, &LayerOperators::qkv) == std::vector<Moved>{{CollectiveKind::all_gather, a, {0, 1, 2, 3}}});
  CHECK(moved_by(flat, &LayerOperators::fc2) == std::vector<Moved>{{CollectiveKind::reduce_scatter, a, {0, 1, 2, 3}}});
}

TEST_CASE("two dimensions: shares of FLOP, weights and activations are as large as in one") {
  for (const std::string more :
       {"", "recomputation = \"full\"\n", "recomputed_sections = [\"fc1\", \"activation\"]\n"}) {
    TestJob job = job_with_eight(gpt(4, 512, 8));
    const Plan flat = job.plan(cut_in_two + more);
    for (const std::string rows : {"2", "4"}) {
      const Plan square = job.plan(cut_in_two + more + "tensor_rows = " + rows + "\n");
      REQUIRE(job.diagnostics.errors().empty());
      CHECK(program::check_program(square.program, job.machine).empty());
      CHECK(square.hardware_flops == flat.hardware_flops);
      for (const program::DeviceId device : {0, 5})
        CHECK(program::memory_peak(square.program, device).total == program::memory_peak(flat.program, device).total);
    }
  }
}

TEST_CASE("two dimensions: what does not go is said") {
  CHECK(refusal_of("tensor_rows = 3\n") == "strategy.toml:5:15: tensor_rows = 3 does not divide tensor = 4");
  TestJob whole = job_with_eight(gpt(4, 512, 8));
  static_cast<void>(whole.plan("tensor = 4\npipeline = 2\ntensor_rows = 2\n"));
  CHECK(whole.diagnostics.errors().front() ==
        "strategy.toml:3:15: tensor_rows = 2 cuts tokens as well, allowed: sequence_parallel = true");
  TestJob experts = job_with_eight(mixture(4, 4));
  static_cast<void>(experts.plan(cut_in_two + "tensor_rows = 2\n"));
  CHECK(experts.diagnostics.errors().front() ==
        "strategy.toml:5:15: experts are not cut in two dimensions, allowed: tensor_rows = 1");
}

TEST_CASE("a profile's bytes are those that the program holds at most, whatever runs again") {
  check_memory(job_with_eight(gpt(4, 512, 8)));
  check_memory(job_with_eight(mixture(4, 4)));
  for (const auto block : {workload::ParallelBlock::one_norm, workload::ParallelBlock::two_norms}) {
    workload::Model model = gpt(4, 512, 8);
    model.parallel_block = block;
    check_memory(job_with_eight(std::move(model)));
  }
  workload::Model normed = gpt(4, 512, 8);
  normed.sublayer_norms = workload::SublayerNorms::output;
  normed.query_key_norm = workload::QueryKeyNorm::shared;
  check_memory(job_with_eight(std::move(normed)));
}

TEST_CASE("a profile hides collectives behind what runs beside them") {
  TestJob job = job_with_eight(gpt(4, 512, 8));
  const PipelineProfile beside = profiled(job, "");
  const PipelineProfile in_turn = profiled(job, "overlap_tensor_communication = false\n");
  Time hidden = 0;
  for (const GroupWork& one : beside.layers.front().backward.collectives) hidden += one.beside;
  CHECK(hidden > 0);
  for (const GroupWork& one : in_turn.layers.front().backward.collectives) CHECK(one.beside == 0);
  CHECK(beside.layers.front().backward.operators == in_turn.layers.front().backward.operators);
  // Two column-parallel layers gather and reduce each, two row-parallel ones gather.
  CHECK(beside.layers.front().backward.collectives.size() == 6);
  CHECK(in_turn.layers.front().backward.collectives.size() == 6);
}

}  // namespace tessera::strategy
