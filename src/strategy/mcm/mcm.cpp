#include "tessera/strategy/mcm/mcm.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "../place_of.hpp"
#include "analytic.hpp"
#include "judge.hpp"
#include "learning/training.hpp"
#include "placement.hpp"
#include "plan_text.hpp"
#include "searches/searches.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/together.hpp"

namespace tessera::strategy::mcm {
namespace {

Options options_of(const config::Table& table) {
  config::Diagnostics checked;
  return options_schema().read(table, checked);
}

/// What searches begin with; none: the key is not given.
std::optional<Tensors> policy_of(const Job& job) {
  const Attachment* file = job.file("policy");
  return file == nullptr ? std::nullopt : std::optional(job.tensors_of(*file));
}

/// What a policy has to be for this graph and package.
void check_policy(const config::Table& table, const Job& job, const Options& options, const Package& package,
                  config::Diagnostics& diagnostics) {
  if (job.file("policy") == nullptr) {
    if (options.search == zero_shot)
      diagnostics.error(place_of(table, "search"),
                        "search zero-shot draws from a trained policy: `policy` names its file");
    return;
  }
  try {
    const Tensors policy = *policy_of(job);
    const Layout layout(shape_for(graph_input(package), &policy, options.stretch_policy));
    static_cast<void>(parameters_of(policy, layout));
    const std::string sigma = policy.note("sigma"), here = fmt::format("{}", options.sigma);
    if (!sigma.empty() && sigma != here)
      diagnostics.warn(place_of(table, "policy"),
                       fmt::format("the policy was trained beside sigma = {}, and here it is {}: it has learnt what "
                                   "that prior leaves to be learnt",
                                   sigma, here));
  } catch (const InputError& error) {
    diagnostics.error(place_of(table, "policy"), error.what());
  }
}

std::string check(const config::Table& table, const Job& job, config::Diagnostics& diagnostics) {
  const Options options = options_schema().read(table, diagnostics);
  if (!diagnostics.ok()) return {};
  if (job.graph == nullptr && job.model == nullptr) {
    diagnostics.error(table.where(), "strategy mcm cuts a model: a transformer or a computation graph, [model]");
    return {};
  }
  if (job.workload.phase != workload::Phase::prompt) {
    diagnostics.error(table.where(), "strategy mcm runs forward passes, allowed: workload.phase = \"prompt\"");
    return {};
  }
  if (job.graph != nullptr) {
    refuse_unread(job.workload, {"sequence", "global_batch", "datatype"},
                  "this model is a computation graph, whose sizes and datatypes are its own");
  }
  const Package package = make_package(job, options.chips);
  if (options.partition.empty() && table.find("partition") != nullptr) {
    diagnostics.error(place_of(table, "partition"), "partition: expected a line for each chip that is used");
    return {};
  }
  if (!options.partition.empty()) {
    try {
      static_cast<void>(read_partition(package, options.partition));
    } catch (const InputError& error) {
      diagnostics.error(place_of(table, "partition"), error.what());
    }
    return {};
  }
  check_policy(table, job, options, package, diagnostics);
  return fmt::format("partition of {} nodes over {} chips (search {})", package.reduced.problem.nodes, package.chips(),
                     options.search);
}

/// Of what a search tried, how much faster than the headline heuristic it is; 0: it cannot run.
void add_rewards(std::vector<program::search::Tried>& table, Time heuristic) {
  for (program::search::Tried& row : table)
    row.reward = row.cost > 0 ? static_cast<double>(heuristic) / static_cast<double>(row.cost) : 0;
}

std::string size_text(std::int64_t bytes) { return config::format_rounded(bytes, config::Unit::bytes); }

/// Of a node alone, whatever else is on its chip.
std::int64_t least_bytes(const Package& package, workload::GraphNodeId node) {
  std::int64_t bytes = 0;
  const auto add = [&](workload::TensorId tensor) { bytes += package.graph.tensors[tensor].bytes; };
  std::ranges::for_each(package.graph.nodes[node].reads, add);
  std::ranges::for_each(package.graph.nodes[node].writes, add);
  return bytes;
}

/// What no partition can make fit.
void refuse_too_large(const Package& package) {
  for (workload::GraphNodeId node = 0; node < package.graph.nodes.size(); ++node) {
    const std::int64_t bytes = least_bytes(package, node);
    if (bytes <= package.memory) continue;
    throw InfeasibleError(fmt::format("node \"{}\" reads and writes {}, and a chip has {} ({} too much)",
                                      package.graph.nodes[node].name, size_text(bytes), size_text(package.memory),
                                      size_text(bytes - package.memory)));
  }
  const std::int64_t weights = package.graph.weight_bytes(), all = package.memory * package.chips();
  if (weights > all)
    throw InfeasibleError(
        fmt::format("the model has {} of weights, and {} {} ({} too much)", size_text(weights),
                    package.chips() == 1 ? "1 chip has" : fmt::format("{} chips have", package.chips()), size_text(all),
                    size_text(weights - all)));
}

/// All of these outlive it.
Question question_of(const Package& package, const Options& options, const Tensors* policy, const Job& job) {
  Question question{package, options, job.seed,
                    [&](const std::vector<Partition>& all) { return judge(package, all, options, job); }};
  if (options.evaluator == EvaluatorKind::analytic) question.fidelity = program::Fidelity::estimate;
  question.comm = &job.evaluations.comm();
  question.policy = policy;
  question.go_on = [&job] { together(job.evaluations.comm(), [&] { job.evaluations.go_on(); }); };
  return question;
}

Searched search(const config::Table& table, const Job& job) {
  const Options options = options_of(table);
  Searched searched;
  if (!options.partition.empty()) return searched;
  const Package package = make_package(job, options.chips);
  if (options.evaluator == EvaluatorKind::package) refuse_too_large(package);
  const std::optional<Tensors> policy = policy_of(job);
  const Question question = question_of(package, options, policy ? &*policy : nullptr, job);
  const auto kind = std::ranges::find(search_kinds(), options.search, &SearchKind::name);
  Found found = kind->run(question);
  if (options.refine) found = refined(question, std::move(found));
  add_rewards(found.table, cost_of_heuristic(question));
  if (!found.updates.empty()) searched.tables = {learning_table(found.updates)};
  searched.kernels = std::move(found.kernels);
  searched.table = std::move(found.table);
  if (!found.evaluation.feasible) {
    searched.nothing_fits =
        fmt::format("search {} has found no partition that fits; the last of {} that were tried: {}", options.search,
                    searched.table.size(), searched.table.back().reason);
    return searched;
  }
  searched.found = std::make_shared<config::Table>();
  config::Array lines;
  for (std::string& line : partition_text(package, found.partition)) lines.push_back({std::move(line), {}});
  searched.found->set("partition", {lines, {}});
  searched.predicted = {{"interval", analytic_interval(package, found.partition)}};
  return searched;
}

std::string times_of_bound(Time time, Time bound) {
  return bound > 0 ? fmt::format(" ({:.3f} of the bound)", static_cast<double>(time) / static_cast<double>(bound)) : "";
}

Plan make_plan(const config::Table& table, const Job& job) {
  const Options options = options_of(table);
  const Package package = make_package(job, options.chips);
  const Partition partition = read_partition(package, options.partition);
  const bool is_late = options.objective == Objective::latency;
  const std::int64_t inputs = is_late ? 1 : options.inputs;
  const Time interval = analytic_interval(package, partition), bound = least_interval(package);
  Plan plan;
  plan.program = program_of(package, partition, options, job);
  const std::uint32_t used = *std::max_element(partition.begin(), partition.end()) + 1U;
  const auto text = [](Time time) { return config::format_rounded(time, config::Unit::time); };
  plan.description = {
      {"nodes", std::to_string(package.graph.nodes.size())},
      {"chips", fmt::format("{} of {}", used, package.chips())},
      {"inputs", std::to_string(inputs)},
      {"analytic interval", text(interval) + times_of_bound(interval, bound)},
      {"bound on intervals", text(bound)},
  };
  if (is_late) plan.description.push_back({"analytic latency", text(analytic_latency(package, partition))});
  if (!package.reduced.replicated.empty())
    plan.description.push_back({"replicated nodes", std::to_string(package.reduced.replicated.size())});
  plan.model_flops = static_cast<double>(inputs) * static_cast<double>(package.graph.flops());
  plan.hardware_flops = program::executed_flops(plan.program);
  plan.parameters = package.graph.parameters();
  plan.tables = placement_tables(package, partition);
  if (job.model != nullptr) plan.tokens = inputs * job.workload.global_batch * job.workload.sequence;
  return plan;
}

Trained train(const config::Table& table, const Training& training) {
  if (training.graphs.front().job->file("policy") != nullptr)
    throw InputError(
        "a training begins with nothing learnt: it takes no `policy` (--resume goes on from a checkpoint)");
  return Trainer(options_of(table), training).run();
}

}  // namespace

StrategyKind kind() {
  StrategyKind mcm;
  mcm.name = "mcm";
  mcm.help = "a computation graph over the chips of a package (MCM partitioning)";
  mcm.needs_model = false;  // a transformer or a graph: check() says so
  mcm.workload_keys = {"phase", "sequence", "global_batch", "datatype"};
  mcm.schema = []() -> const config::SchemaBase& { return options_schema(); };
  mcm.inner_schemas = [] { return std::vector<const config::SchemaBase*>{&learning_schema()}; };
  mcm.check = check;
  mcm.search = search;
  mcm.program = make_plan;
  mcm.train = train;
  return mcm;
}

}  // namespace tessera::strategy::mcm
