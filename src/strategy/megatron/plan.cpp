// From a checked cut to the plan.
#include <fmt/core.h>

#include <map>

#include "device_state.hpp"
#include "largest_batch.hpp"
#include "layout.hpp"
#include "open_cuts.hpp"
#include "profile.hpp"
#include "recomputation.hpp"
#include "stage_program.hpp"
#include "stage_tables.hpp"
#include "streaming.hpp"
#include "tessera/workload/vision.hpp"
#include "vision_blocks.hpp"
#include "weight_hosts.hpp"

namespace tessera::strategy::megatron {
namespace {

const char* yes_or_no(bool value) { return value ? "yes" : "no"; }

/// "12", or where stages differ "11 x 1, 12 x 6, 11 x 1": so many stages with so many layers.
std::string stage_layers_text(const Cut& cut) {
  std::vector<std::pair<std::int64_t, int>> runs;
  for (std::uint32_t stage = 0; stage < cut.options.pipeline; ++stage) {
    const std::int64_t layers = cut.stage_layers(stage);
    if (runs.empty() || runs.back().first != layers) runs.emplace_back(layers, 0);
    ++runs.back().second;
  }
  if (runs.size() == 1) return std::to_string(runs[0].first);
  std::string text;
  for (const auto& [layers, stages] : runs)
    text += (text.empty() ? "" : ", ") + std::to_string(layers) + " x " + std::to_string(stages);
  return text;
}

/// "gpu 8 to gpu 15, gpu 130"
std::string devices_text(const std::vector<program::DeviceId>& devices, const machine::Machine& machine) {
  std::string text;
  for (std::size_t i = 0; i < devices.size();) {
    std::size_t end = i + 1;
    while (end < devices.size() && devices[end] == devices[end - 1] + 1) ++end;
    text += (text.empty() ? "" : ", ") + machine.node_name(devices[i]);
    if (end > i + 1) text += " to " + machine.node_name(devices[end - 1]);
    i = end;
  }
  return text;
}

std::string sharding_text(const Cut& cut) {
  const Options& options = cut.options;
  if (!options.shards_parameters()) return "gradients, reduced behind each backward pass";
  const std::string ahead =
      options.gather_ahead == 0 ? "gathered when needed" : fmt::format("gathered {} ahead", options.gather_ahead);
  return "parameters, " + ahead + (options.reshard_after_forward ? "" : ", kept until the backward pass");
}

std::string micro_batches_text(const Cut& cut) {
  if (cut.fuller_replicas == cut.options.data) return std::to_string(cut.micro_batches);
  return fmt::format("{} in {}, {} in {}", cut.micro_batches, cut.fuller_replicas, cut.micro_batches - 1,
                     cut.options.data - cut.fuller_replicas);
}

std::string context_text(const Cut& cut) {
  config::Table keys;
  options_schema().write(cut.options, keys);
  return fmt::format("{}, {}", cut.options.context_parallel, *keys.find("context_exchange")->string());
}

/// "generation of 16 tokens behind 256"
std::string phase_text(const Workload& workload) {
  const std::string made = fmt::format("generation of {} tokens", workload.generated);
  if (workload.phase == workload::Phase::generation) return fmt::format("{} behind {}", made, workload.sequence);
  const std::string prompt = fmt::format("prompt of {} tokens", workload.sequence);
  return workload.generates() ? prompt + " and " + made : prompt;
}

void describe(const Cut& cut, const machine::Machine& machine, Plan& plan) {
  const Options& options = cut.options;
  auto& lines = plan.description;
  const auto add = [&](const char* key, std::string value) { lines.emplace_back(key, std::move(value)); };
  if (!cut.training()) {
    add("phase", phase_text(*cut.workload));
    add("batch", fmt::format("{} sequences", cut.workload->global_batch));
  }
  add("tensor parallel", std::to_string(options.tensor));
  add("pipeline parallel", std::to_string(options.pipeline));
  if (cut.shares_sequences()) add("context parallel", context_text(cut));
  add("data parallel", std::to_string(options.data));
  if (has_experts(*cut.model)) add("expert parallel", std::to_string(options.expert_parallel));
  if (options.once_a_node) add("expert dispatch", fmt::format("once a node, over {}", cut.expert_nodes));
  if (cut.expert_tensor() < options.tensor) add("expert tensor", std::to_string(cut.expert_tensor()));
  if (!cut.spare.empty()) add("left out", devices_text(cut.spare, machine));
  if (!cut.placement.empty()) add("placement", cut.placement);
  if (options.unused_first) add("routes", "unused first");
  if (has_vision(*cut.model)) add("vision tower", vision_text(cut));
  add("layers a stage", stage_layers_text(cut));
  add("micro-batch", fmt::format("{} sequences of {} tokens", options.micro_batch, cut.workload->sequence));
  add("micro-batches a replica", micro_batches_text(cut));
  if (options.pipeline > 1 && cut.workload->phase != workload::Phase::generation) {
    add("schedule",
        options.interleave > 1 ? fmt::format("{}, {} chunks", options.schedule, options.interleave) : options.schedule);
  }
  add("sequence parallel", yes_or_no(cut.uses_sequence_parallelism()));
  if (options.shards_gradients()) add("data sharding", sharding_text(cut));
  if (options.shard_groups() > 1)
    add("shard ranks", fmt::format("{} in each of {} groups{}", options.shards(), options.shard_groups(),
                                   options.sums_groups_last ? ", summed in the last micro-batch" : ""));
  if (options.streams_weights())
    add("weight streaming", options.weights_on_hosts() ? "layer by layer, from hosts" : "layer by layer, from devices");
  if (!cut.training()) return;
  add("recomputation", recomputation_text(cut));
  add("distributed optimizer", yes_or_no(options.distributed_optimizer));
}

/// Some layers see a window or a chunk.
bool has_short_sight(const workload::Model& model) {
  for (std::uint32_t kind = 0; kind < layer_kinds(model); ++kind)
    if (layer_kind(model, kind).sliding_window > 0 || layer_kind(model, kind).attention_chunk > 0) return true;
  return false;
}

/// Of a sequence. FLOP of one token's generation is linear in its number of keys, but for windows and chunks: the mean
/// over all tokens times their number.
double forward_flops(const Cut& cut) {
  const Workload& workload = *cut.workload;
  double flops = 0;
  if (workload.phase != workload::Phase::generation) {
    const auto pass = workload::forward_flops(*cut.model, workload.sequence, workload.sequence, workload.phase);
    flops += static_cast<double>(pass.total());
  }
  if (workload.steps() == 0) return flops;
  if (!has_short_sight(*cut.model)) {
    const auto first = workload::forward_flops(*cut.model, 1, workload.sequence + 1, workload::Phase::generation);
    const auto last = workload::forward_flops(*cut.model, 1, workload.context(), workload::Phase::generation);
    return flops + 0.5 * static_cast<double>(first.total() + last.total()) * static_cast<double>(workload.steps());
  }
  for (const Segment& part : generation_segments(cut)) {
    const auto pass = workload::forward_flops(*cut.model, 1, part.keys, workload::Phase::generation);
    flops += static_cast<double>(part.tokens) * static_cast<double>(pass.total());
  }
  return flops;
}

/// Of the images of a sequence, with their backward pass.
double image_flops(const Cut& cut) {
  if (!runs_vision(cut)) return 0;
  const workload::VisionFlops flops = workload::vision_flops(*cut.model);
  return static_cast<double>(flops.forward + (cut.training() ? flops.backward : 0));
}

Served served_by(const Cut& cut) {
  const Workload& workload = *cut.workload;
  return {workload.phase, workload.global_batch, workload.sequence, workload.generates() ? workload.generated : 0,
          largest_batch(cut)};
}

void add_streams(const Cut& cut, program::Program& program) {
  Cut in_steps = cut;
  in_steps.phase = workload::Phase::generation;
  StageBlocks blocks(program, cut), steps(program, in_steps);
  const std::vector<LoansOfDevice> loans = loans_by_rank(cut);
  std::map<StagePlace, std::vector<program::BlockId>> streams;
  for (std::uint32_t rank = 0; rank < cut.devices.size(); ++rank) {
    const Place at = cut.place(rank);
    const std::uint32_t expert_rank = cut.expert_load.empty() ? 0 : blocks.load_class(cut.expert_rank(at));
    const StagePlace place{at.stage, expert_rank, cut.context_class(at),
                           static_cast<std::uint32_t>(cut.micro_batches_of(cut.replica(at))), loans[rank]};
    const auto [found, added] = streams.try_emplace(place);
    if (added) found->second = add_stage(program, cut, blocks, steps, place);
    program.devices[cut.devices[rank]].streams = found->second;
  }
}

}  // namespace

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

Plan plan_of(const Cut& cut, const Job& job) {
  Plan plan;
  plan.program = empty_program(job);
  program::Program& program = plan.program;
  add_layout(cut, job.machine, program);
  add_streams(cut, program);
  add_host_streams(program, cut);
  if (cut.options.weights_on_hosts()) add_weight_hosts(program, cut, uses_by_layer(cut));
  describe(cut, job.machine, plan);
  add_stage_tables(cut, job, plan);
  const auto sequences = static_cast<double>(job.workload.global_batch);
  plan.model_flops = sequences * ((cut.training() ? 3 : 1) * forward_flops(cut) + image_flops(cut));
  plan.hardware_flops = program::executed_flops(program);
  plan.parameters = workload::parameter_count(*job.model);
  plan.tokens = job.workload.global_batch * (job.workload.generates() ? job.workload.generated : job.workload.sequence);
  if (!cut.training()) plan.served = served_by(cut);
  return plan;
}

StrategyKind kind() {
  StrategyKind kind;
  kind.name = "megatron";
  kind.help = options_schema().help();
  kind.workload_keys = {"phase",
                        "sequence",
                        "global_batch",
                        "generated",
                        "flash_attention",
                        "datatype",
                        "product_datatype",
                        "weight_datatype",
                        "operand_scaling",
                        "gather_operands",
                        "loss",
                        "qkv_bias_kernels",
                        "gated_linears",
                        "expert_products",
                        "operations",
                        "kv_cache_datatype"};
  kind.schema = []() -> const config::SchemaBase& { return options_schema(); };
  kind.check = [](const config::Table& table, const Job& job, config::Diagnostics& diagnostics) {
    if (!options_schema().open_keys(table).empty()) return open_text(table, job, diagnostics);
    static_cast<void>(make_cut(table, job, diagnostics));
    return std::string();
  };
  kind.inner_schemas = [] { return options_inner_schemas(); };
  kind.search = search;
  kind.program = [](const config::Table& table, const Job& job) {
    config::Diagnostics checked;
    return plan_of(make_cut(table, job, checked), job);
  };
  kind.profile = [](const config::Table& table, const Job& job) {
    config::Diagnostics checked;
    return profile_of(make_cut(table, job, checked), job);
  };
  return kind;
}

}  // namespace tessera::strategy::megatron
