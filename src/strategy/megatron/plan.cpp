// From a checked cut to the plan.
#include <fmt/core.h>

#include <map>

#include "../empty_program.hpp"
#include "device_state.hpp"
#include "layout.hpp"
#include "stage_program.hpp"

namespace tessera::strategy::megatron {
namespace {

const char* name_of(workload::Recomputation recomputation) {
  switch (recomputation) {
    case workload::Recomputation::none:
      return "none";
    case workload::Recomputation::selective:
      return "selective";
    default:
      return "full";
  }
}

const char* yes_or_no(bool value) { return value ? "yes" : "no"; }

void describe(const Cut& cut, Plan& plan) {
  const Options& options = cut.options;
  auto& lines = plan.description;
  const auto add = [&](const char* key, std::string value) { lines.emplace_back(key, std::move(value)); };
  add("tensor parallel", std::to_string(options.tensor));
  add("pipeline parallel", std::to_string(options.pipeline));
  add("data parallel", std::to_string(options.data));
  if (cut.model->experts > 0) add("expert parallel", std::to_string(options.expert_parallel));
  add("layers a stage", std::to_string(cut.chunk_layers * options.interleave));
  add("micro-batch", fmt::format("{} sequences of {} tokens", options.micro_batch, cut.workload->sequence));
  add("micro-batches a replica", std::to_string(cut.micro_batches));
  if (options.pipeline > 1 && cut.workload->phase != workload::Phase::generation) {
    add("schedule",
        options.interleave > 1 ? fmt::format("{}, {} chunks", options.schedule, options.interleave) : options.schedule);
  }
  add("sequence parallel", yes_or_no(cut.uses_sequence_parallelism()));
  if (!cut.training()) return;
  add("recomputation", name_of(options.recomputation));
  add("distributed optimizer", yes_or_no(options.distributed_optimizer));
}

/// FLOP of one token's generation is linear in its number of keys: the mean over all tokens times their number.
double forward_flops(const Cut& cut) {
  const Workload& workload = *cut.workload;
  if (workload.phase != workload::Phase::generation) {
    const auto flops = workload::forward_flops(*cut.model, workload.sequence, workload.sequence, workload.phase);
    return static_cast<double>(flops.total());
  }
  const auto first = workload::forward_flops(*cut.model, 1, workload.sequence + 1, workload.phase);
  const auto last = workload::forward_flops(*cut.model, 1, workload.sequence + workload.generated, workload.phase);
  return 0.5 * static_cast<double>(first.total() + last.total()) * static_cast<double>(workload.generated);
}

void add_streams(const Cut& cut, program::Program& program) {
  StageBlocks blocks(program, cut);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<program::BlockId>> streams;
  for (std::uint32_t rank = 0; rank < cut.devices.size(); ++rank) {
    const Place at = cut.place(rank);
    const std::uint32_t expert_rank = cut.expert_load.empty() ? 0 : cut.expert_rank(at.data);
    const auto [found, added] = streams.try_emplace({at.stage, expert_rank});
    if (added) found->second = add_stage(program, cut, blocks, at.stage, expert_rank);
    program.devices[cut.devices[rank]].streams = found->second;
  }
}

Plan make_plan(const config::Table& table, const Job& job, config::Diagnostics& diagnostics) {
  Plan plan;
  const std::size_t before = diagnostics.errors().size();
  const Cut cut = make_cut(table, job, diagnostics);
  if (diagnostics.errors().size() != before) return plan;
  plan.program = empty_program(job);
  program::Program& program = plan.program;
  add_layout(cut, program);
  add_streams(cut, program);
  describe(cut, plan);
  const auto sequences = static_cast<double>(job.workload->global_batch);
  plan.model_flops = sequences * (cut.training() ? 3 : 1) * forward_flops(cut);
  plan.hardware_flops = program::executed_flops(program, *job.machine);
  plan.parameters = workload::parameter_count(*job.model);
  plan.tokens = job.workload->global_batch *
                (job.workload->phase == workload::Phase::generation ? job.workload->generated : job.workload->sequence);
  return plan;
}

}  // namespace

StrategyKind kind() {
  StrategyKind kind;
  kind.name = "megatron";
  kind.help = options_schema().help();
  kind.schema = []() -> const config::SchemaBase& { return options_schema(); };
  kind.make_plan = make_plan;
  return kind;
}

}  // namespace tessera::strategy::megatron
