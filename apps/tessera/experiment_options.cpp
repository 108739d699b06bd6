#include "experiment_options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "tessera/results/results.hpp"
#include "tessera/sim/run/stream_volume.hpp"

namespace tessera::app {

void ExperimentOptions::add_to(CLI::App& command) {
  command.add_option("EXPERIMENT", path, "the experiment (TOML; docs/experiments.md)")->required();
  const auto has_name = [](const std::string& name) { return name.empty() ? "the name is empty" : ""; };
  command.add_option("--plan", plan, "a plan file of tessera plan, whose strategy takes the place of the experiment's")
      ->check(has_name);
  command
      .add_option(
          "--cache", cache,
          "a folder in which what searches measure, and what cost model dataflow works out, is kept for the next "
          "runs; check never searches")
      ->check(has_name);
  add_values_to(command);
  command.add_flag("--allow-oversubscription", allow_oversubscription,
                   "a job that does not fit into memory only warns");
}

void ExperimentOptions::add_training_to(CLI::App& command) {
  command.add_option("EXPERIMENT", path, "the experiment (TOML; docs/experiments.md), with a table [training]")
      ->required();
  add_values_to(command);
}

void ExperimentOptions::add_values_to(CLI::App& command) {
  command.add_option("--set", settings, "KEY=VALUE over the experiment, such as strategy.tensor=4; repeatable")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false);
  command.add_option("--seed", seed, "seed of all random draws, over simulation.seed")->type_name("SEED");
}

void LimitOptions::add_to(CLI::App& command) {
  command.add_option("--within", within,
                     "a search that proves its plan ends when no other can be faster by more than this, such as 2%");
  command.add_option("--budget", budget,
                     "such a search ends after so many simulations, or after a time (\"10 min\") in whatever it is "
                     "at, and says what is proven by then");
}

std::vector<experiment::Setting> ExperimentOptions::parsed_settings() const {
  std::vector<experiment::Setting> parsed;
  for (const std::string& text : settings) parsed.push_back(experiment::parse_setting(text));
  if (!seed.empty()) parsed.push_back({"simulation.seed", seed, "--seed"});
  if (allow_oversubscription)
    parsed.push_back({"simulation.allow_oversubscription", "true", "--allow-oversubscription"});
  return parsed;
}

void print_warnings(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) std::fprintf(stderr, "warning: %s\n", warning.c_str());
}

experiment::Source load(const ExperimentOptions& options) {
  config::Diagnostics diagnostics;
  auto source =
      experiment::load(options.path, options.parsed_settings(), experiment::input_folders(), diagnostics, options.plan);
  if (!diagnostics.ok()) {
    // What could be read is checked as well, so that all problems come at once.
    if (!source.table->entries().empty()) (void)experiment::build(*source.table, diagnostics, {}, source.files);
    diagnostics.throw_if_errors();
  }
  print_warnings(diagnostics.warnings());
  return source;
}

std::unique_ptr<experiment::Experiment> build(const config::Table& resolved, std::vector<Attachment> files, bool silent,
                                              bool is_searched_next, const experiment::KeptCosts& costs) {
  config::Diagnostics diagnostics;
  auto experiment = experiment::build(resolved, diagnostics, {}, std::move(files), is_searched_next, costs);
  if (!silent) print_warnings(diagnostics.warnings());
  diagnostics.throw_if_errors();
  return experiment;
}

results::Replacing check_output(const ExperimentOptions& options, const std::string& output, bool replace) {
  results::check_distinct(output, {options.path, options.plan});
  return results::check_output(output, replace);
}

namespace {

std::vector<std::string> files_in(const config::Table& resolved) {
  std::vector<std::string> files{resolved.where().file};
  for (const auto& [key, value] : resolved.entries()) {
    files.push_back(value.where().file);
    if (value.table() == nullptr) continue;
    for (std::string& file : files_in(*value.table())) files.push_back(std::move(file));
  }
  std::sort(files.begin(), files.end());
  files.erase(std::unique(files.begin(), files.end()), files.end());
  return files;
}

}  // namespace

std::vector<std::string> files_of(const experiment::Source& source) {
  std::vector<std::string> files = files_in(*source.table);
  for (const Attachment& file : source.files) files.push_back(file.path);
  return files;
}

std::vector<std::string> step_by_step(const experiment::Experiment& experiment) {
  std::vector<std::string> found = sim::rings_that_share_links(experiment.plan.program, experiment.machine);
  for (std::string& rings : found)
    rings += ", which share links: collectives.rings = 1 or hierarchical is simulated faster";
  return found;
}

void check_simulation(const experiment::Experiment& experiment, int ranks) {
  print_warnings(sim::check(experiment.machine, experiment.plan.program, *experiment.cost, ranks,
                            experiment::simulation_options(experiment)));
}

}  // namespace tessera::app
