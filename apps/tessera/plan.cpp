// tessera plan: what a strategy's search finds, as a file that a person can read and that run takes.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "command.hpp"
#include "on_ranks.hpp"
#include "progress.hpp"
#include "search_report.hpp"
#include "tessera/base/together.hpp"
#include "tessera/results/results.hpp"

namespace tessera::app {
namespace {

struct Options {
  ExperimentOptions experiment;
  LimitOptions limits;
  std::string output, progress = "auto";
  bool force = false;
};

ExitCode plan(const Options& options, Communicator& comm) {
  const Prepared job =
      prepare(options.experiment, options.limits, {options.output, options.force}, options.progress, comm);
  together(comm, [&] {
    if (comm.rank() != 0) return;
    check_simulation(*job.experiment, 1);
    const std::string text = experiment::plan_text(*job.experiment, *job.table, TESSERA_VERSION);
    results::write_text(options.output, text, options.force);
    print_warnings(experiment::changed_files(job.experiment->files));
    print(search_report(*job.experiment));
    print(text);
  });
  return ExitCode::done;
}

}  // namespace

Command add_plan(CLI::App& app, Arguments arguments) {
  auto o = std::make_shared<Options>();
  CLI::App* options = app.add_subcommand("plan", "Find the best plan of an experiment's strategy; under mpirun too.");
  o->experiment.add_to(*options);
  o->limits.add_to(*options);
  options->add_option("-o,--output", o->output, "the plan file to write (TOML), which run --plan takes")->required();
  add_progress(*options, o->progress);
  options->add_flag("--force", o->force, "replace an existing output");
  return {options,
          [o, arguments] { return on_all_ranks(arguments, [&](Communicator& comm) { return plan(*o, comm); }); }};
}

}  // namespace tessera::app
