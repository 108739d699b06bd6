// tessera run: an experiment, simulated on all ranks, into a result file.
#include <CLI/CLI.hpp>
#include <cstdio>

#include <fmt/format.h>
#include "command.hpp"
#include "experiment_options.hpp"
#include "interrupts.hpp"
#include "on_ranks.hpp"
#include "progress.hpp"
#include "search_report.hpp"

#include "tessera/base/comm.hpp"
#include "tessera/base/together.hpp"
#include "tessera/experiment/estimate.hpp"
#include "tessera/experiment/fits_computer.hpp"
#include "tessera/experiment/run.hpp"
#include "tessera/results/results.hpp"

namespace tessera::app {
namespace {

struct RunOptions {
  ExperimentOptions experiment;
  LimitOptions limits;
  std::string output, synchroniser = "window", ranks_used = "auto", progress = "auto";
  bool force = false;
};

sim::SimulationResult simulate(const RunOptions& options, const experiment::Experiment& experiment,
                               const experiment::Estimate& expected, Communicator& comm) {
  const bool shown = comm.rank() == 0 && options.progress != "off";
  if (shown) {
    for (const std::string& rings : step_by_step(experiment)) fmt::print(stderr, "step by step: {}\n", rings);
  }
  ProgressDisplay progress(shown ? options.progress : "off", stderr, expected);
  experiment::RunOptions how;
  how.synchroniser = options.synchroniser;
  how.interrupted = interrupted;
  how.ranks_used = options.ranks_used == "all" ? sim::RanksUsed::all : sim::RanksUsed::automatic;
  how.all_work = experiment::work_of(expected);
  how.warn = [&progress](const std::string& warning) {
    progress.clear();
    print_warnings({warning});
  };
  if (shown) how.progress = [&](const auto& report, const auto& done) { progress.report(report, done); };
  return experiment::run(experiment, comm, how);
}

ExitCode run(const RunOptions& options, const Arguments& arguments, Communicator& comm) {
  const experiment::RunRecord record{arguments.text(), TESSERA_VERSION, experiment::utc_now()};
  const Prepared job =
      prepare(options.experiment, options.limits, {options.output, options.force}, options.progress, comm);
  const experiment::Estimate expected = experiment::estimate_where_it_can_run(*job.experiment, comm);
  const sim::SimulationResult result = simulate(options, *job.experiment, expected, comm);
  const auto written =
      experiment::provenance(*job.experiment, job.given, job.resolved, options.synchroniser, record, result, comm);
  if (comm.rank() == 0) print_warnings(result.warnings);
  results::write(options.output, result.results, written, comm, results::Transport::automatic,
                 job.standing_at(options.output));
  // Behind the last that takes time: whoever looks at a file from now on sees what it is then.
  if (comm.rank() == 0) print_warnings(experiment::changed_files(job.experiment->files));
  together(comm, [&] {
    if (comm.rank() != 0) return;
    fmt::print(stderr, "{}", struck_out_report(*job.experiment));  // as progress: `show` prints what is printed below
    print(search_report(*job.experiment));
    print(results::summary(options.output, results::Checking::none));
  });
  return ExitCode::done;
}

}  // namespace

Command add_run(CLI::App& app, Arguments arguments) {
  auto o = std::make_shared<RunOptions>();
  CLI::App* options = app.add_subcommand("run", "Simulate an experiment; under mpirun or srun on all its ranks.");
  o->experiment.add_to(*options);
  o->limits.add_to(*options);
  options->add_option("-o,--output", o->output, "the result file to write (HDF5)")->required();
  options->add_option("--sync", o->synchroniser, "how ranks stay in step; no result depends on it")
      ->check(CLI::IsMember(pdes::synchroniser_kinds()))
      ->capture_default_str();
  options
      ->add_option("--ranks-used", o->ranks_used,
                   "all: every rank simulates its share; auto: the first one alone where that is as fast")
      ->check(CLI::IsMember({"auto", "all"}))
      ->capture_default_str();
  add_progress(*options, o->progress);
  options->add_flag("--force", o->force, "replace an existing output");
  return {options, [o, arguments] {
            return on_all_ranks(arguments, [&](Communicator& comm) { return run(*o, arguments, comm); });
          }};
}

}  // namespace tessera::app
