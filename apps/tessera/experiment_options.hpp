// The options by which `run` and `check` name an experiment and change values of it.
#pragma once

#include <string>
#include <vector>

#include "tessera/experiment/experiment.hpp"
#include "tessera/experiment/run.hpp"

namespace CLI {
class App;
}

namespace tessera::app {

struct ExperimentOptions {
  std::string path;
  std::string plan;                   ///< a plan file; empty: none
  std::string cache;                  ///< folder of experiment::Cache; empty: none
  std::vector<std::string> settings;  ///< KEY=VALUE
  std::string seed;                   ///< empty: as the experiment says
  bool allow_oversubscription = false;

  void add_to(CLI::App& command);
  /// Those of a command that takes neither a plan nor a cache.
  void add_training_to(CLI::App& command);
  /// In the order in which they apply. InputError when one is not of the form KEY=VALUE.
  [[nodiscard]] std::vector<experiment::Setting> parsed_settings() const;

 private:
  void add_values_to(CLI::App& command);
};

/// How far a search goes: of `run` and `plan`.
struct LimitOptions {
  std::string within, budget;

  void add_to(CLI::App& command);
  /// InputError when they are not of their form.
  [[nodiscard]] program::search::Limits parsed() const { return program::search::parse_limits(within, budget); }
};

/// Loads the experiment and reports warnings and errors; InputError with all error lines.
[[nodiscard]] experiment::Source load(const ExperimentOptions& options);

/// The typed experiment from a resolved table; InputError with all error lines. Warnings go to standard error unless
/// `silent`. `is_searched_next`: as for experiment::build().
[[nodiscard]] std::unique_ptr<experiment::Experiment> build(const config::Table& resolved,
                                                            std::vector<Attachment> files, bool silent,
                                                            bool is_searched_next = false,
                                                            const experiment::KeptCosts& costs = {});

/// Refuses, before anything is read, an output that could not be written, or that is the experiment or the plan itself.
results::Replacing check_output(const ExperimentOptions& options, const std::string& output, bool replace);
/// The files that values of an experiment stand in (its own, and those of its machine, model and plan), and those that
/// its strategy names.
[[nodiscard]] std::vector<std::string> files_of(const experiment::Source& source);
/// "warning: ..." on standard error.
void print_warnings(const std::vector<std::string>& warnings);

/// Its rings that no law takes since they share links, and what is simulated faster.
[[nodiscard]] std::vector<std::string> step_by_step(const experiment::Experiment& experiment);
/// Whether it can be simulated on so many ranks, as sim::check() says; warnings go to standard error.
void check_simulation(const experiment::Experiment& experiment, int ranks);

}  // namespace tessera::app
