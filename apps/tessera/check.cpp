// tessera check: what run would refuse before it starts, without running. Never starts MPI.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <utility>

#include "command.hpp"
#include "experiment_options.hpp"
#include "spare_memory.hpp"
#include "tessera/experiment/estimate.hpp"
#include "tessera/experiment/fits_computer.hpp"
#include "tessera/results/results.hpp"

namespace tessera::app {
namespace {

struct CheckOptions {
  ExperimentOptions experiment;
  std::string output;
  int ranks = 1;
  bool force = false;
};

/// 1.23 T, 175 G, 12.3 k: three digits and a power of 1000.
std::string rounded(double value) {
  static constexpr const char* prefixes[] = {"", " k", " M", " G", " T", " P", " E", " Z", " Y"};
  std::size_t power = 0;
  for (; value >= 999.5 && power + 1 < std::size(prefixes); ++power) value /= 1000;
  if (power == 0) return fmt::format("{:.0f}", value);
  return fmt::format("{:.{}f}{}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0, prefixes[power]);
}

std::string line(const std::string& name, const std::string& value) {
  return fmt::format("#   {:<30}{}\n", name, value);
}

/// "56", "56 and 1 host".
std::string devices_text(std::int64_t devices, std::int64_t hosts) {
  return hosts == 0 ? std::to_string(devices) : fmt::format("{} and {} host{}", devices, hosts, hosts == 1 ? "" : "s");
}

std::string memory_line(const experiment::Experiment& experiment, const experiment::Estimate& estimate) {
  const std::string least = config::format_rounded(estimate.certain_peak, config::Unit::bytes);
  const std::string most = config::format_rounded(estimate.peak.most, config::Unit::bytes);
  std::string text =
      fmt::format("{} of {} on {}", estimate.peak.is_exact() ? least : "at least " + least + ", at most " + most + ",",
                  config::format_rounded(experiment.machine.spec(estimate.fullest).memory_capacity),
                  experiment.machine.node_name(estimate.fullest));
  std::string separator = ": ";
  for (std::size_t i = 0; i < estimate.peak.by_category.size(); ++i) {
    const std::int64_t bytes = estimate.peak.by_category[i];
    if (bytes == 0) continue;
    text += std::exchange(separator, ", ") +
            program::name_of(experiment.plan.program, static_cast<program::MemoryCategory>(i)) + ' ' +
            config::format_rounded(bytes, config::Unit::bytes);
  }
  return text;
}

/// One figure where it is known, what is known of it otherwise.
std::string memory_text(const experiment::Range& bytes) {
  if (bytes.known()) return rounded((bytes.least + bytes.most) / 2) + "B";
  return "unknown, at least " + rounded(bytes.least) + "B, at most " + rounded(bytes.most) + "B";
}

std::string events_text(const experiment::Range& events, int ranks) {
  const std::string least = rounded(events.least / ranks);
  return events.known()
             ? least
             : least + " where no messages share links, up to " + rounded(events.most / ranks) + " where all do";
}

/// What a simulation of some parts stands for.
std::string fold_text(const sim::FoldFacts& fold) {
  std::string text = fmt::format("{} of {} {}", fold.simulated, fold.parts, fold.name);
  if (fold.orders > 1) {
    text += fmt::format(
        "; where messages come at the same time, beside them {} more, in which these have another order: all, where "
        "that matters",
        (fold.orders - 1) * fold.simulated);
  }
  return text;
}

std::string batch_text(const strategy::Served& served) {
  if (served.largest_batch == 0) return "none";
  return fmt::format("{} sequence{}, {} asked for", served.largest_batch, served.largest_batch == 1 ? "" : "s",
                     served.sequences);
}

/// Comments, so that the whole output is an experiment again.
std::string figures(const experiment::Experiment& experiment, const experiment::Estimate& e, int ranks) {
  const strategy::Plan& plan = experiment.plan;
  std::string text = "# The job\n";
  text += line("devices", devices_text(e.devices, e.hosts));
  text += line("rates of the machine", experiment.calibration);
  if (const std::string bytes = experiment::bytes_of_one(experiment); !bytes.empty())
    text += line("in " + experiment.workload.datatype, bytes);
  if (plan.served) text += line("largest batch that fits", batch_text(*plan.served));
  if (plan.parameters > 0) text += line("parameters", rounded(static_cast<double>(plan.parameters)));
  if (plan.tokens > 0) {
    text += line("tokens per iteration", rounded(static_cast<double>(plan.tokens)));
    // Those of prompts are not counted among the tokens that are made.
    if (!plan.served || plan.served->phase != workload::Phase::prompt_and_generation)
      text += line("FLOP per token", rounded(plan.model_flops / static_cast<double>(plan.tokens)));
  }
  if (plan.model_flops > 0) text += line("FLOP of the model", rounded(plan.model_flops));
  const std::string about = e.is_sampled ? "about " : "";
  text += line("FLOP executed", about + rounded(e.executed_flops));
  text += line("bytes sent", about + rounded(e.bytes_sent) + "B in " + rounded(e.messages) + " messages");
  text += line("memory of the fullest device", memory_line(experiment, e));
  text += line("memory to spare", spare_text(experiment, e));
  text += fmt::format("# Its simulation, estimated, on {} rank{}\n", ranks, ranks == 1 ? "" : "s");
  const auto laws = sim::uses_of_laws(experiment.machine, plan.program, experiment::simulation_options(experiment),
                                      experiment.fold.name.empty() ? ranks : 1, experiment.fold.problem);
  const auto is_used = [&](const char* name) { return std::ranges::find(laws, name, &results::LawUse::name)->is_used; };
  text += line("laws", results::text_of(laws));
  if (experiment.fold.parts > 1) text += line("simulated for all", fold_text(experiment.fold));
  for (const std::string& rings : step_by_step(experiment)) text += line("step by step", rings);
  const experiment::Range events{is_used("trains") ? e.events.least : e.events.most, e.events.most};
  text += line("events per rank", events_text(events, ranks) +
                                      (is_used("rounds") ? "; fewer where rounds of loops repeat themselves" : "") +
                                      (plan.program.memory_packet > 0 ? "; calls of shared memories not counted" : ""));
  text += line("memory per rank", memory_text(e.bytes_per_rank(ranks)));
  return text;
}

/// Of a job whose plan is to be searched, what is known before.
std::string figures_before_search(const experiment::Experiment& experiment) {
  std::string text = "# The job\n";
  text += line("devices", devices_text(experiment.machine.accelerators(), experiment.machine.hosts()));
  text += line("rates of the machine", experiment.calibration);
  if (experiment.model)
    text += line("parameters", rounded(static_cast<double>(workload::parameter_count(*experiment.model))));
  text += line("to be searched", experiment.open);
  text += "# The search is part of run and plan, which refuse more: plans that do not fit into memory\n";
  return text;
}

ExitCode check(const CheckOptions& options) {
  const bool has_output = !options.output.empty();
  if (has_output) check_output(options.experiment, options.output, options.force);
  const experiment::Source source = load(options.experiment);
  if (has_output) results::check_distinct(options.output, files_of(source));
  const auto experiment = build(*source.table, source.files, false);
  if (!experiment->open.empty()) {
    sim::refuse_ranks(experiment->machine, options.ranks, experiment->simulation.partition);
    print(figures_before_search(*experiment) + "\n" + config::to_toml(*source.table));
    return ExitCode::done;
  }
  // What the job is also stands there when it does not fit: that is what one wants to know then.
  sim::SimulationOptions simulation = experiment::simulation_options(*experiment);
  const bool may_exceed = std::exchange(simulation.allow_oversubscription, true);
  static_cast<void>(
      sim::check(experiment->machine, experiment->plan.program, *experiment->cost, options.ranks, simulation));
  const experiment::Estimate expected = experiment::estimate(*experiment);
  print(figures(*experiment, expected, options.ranks) + "\n");
  print_warnings(sim::refuse_memory(experiment->machine, experiment->plan.program, may_exceed));
  // Whoever checks on a login node runs elsewhere, and how many ranks a node will have is not known here.
  if (const std::string problem = experiment::does_not_fit(expected.bytes_per_rank(options.ranks), 1); !problem.empty())
    print_warnings({problem});
  print(config::to_toml(*source.table));
  return ExitCode::done;
}

}  // namespace

Command add_check(CLI::App& app) {
  auto o = std::make_shared<CheckOptions>();
  CLI::App* options =
      app.add_subcommand("check", "Say what run would refuse before it starts, and print the resolved experiment.");
  o->experiment.add_to(*options);
  options->add_option("--ranks", o->ranks, "number of ranks that run would get")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  options->add_option("-o,--output", o->output, "also check that this result file could be written");
  options->add_flag("--force", o->force, "as for run: the output may exist");
  return {options, [o] { return guarded(false, [&] { return check(*o); }); }};
}

}  // namespace tessera::app
