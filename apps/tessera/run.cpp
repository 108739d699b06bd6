// tessera run: an experiment, simulated on all ranks, into a result file.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <chrono>
#include <cstdio>
#include <ctime>

#include "command.hpp"
#include "experiment_options.hpp"
#include "fits_computer.hpp"
#include "interrupts.hpp"
#include "on_ranks.hpp"
#include "progress.hpp"
#include "search_report.hpp"
#include "tessera/base/comm.hpp"
#include "tessera/base/together.hpp"
#include "tessera/experiment/estimate.hpp"
#include "tessera/experiment/run.hpp"
#include "tessera/results/results.hpp"

namespace tessera::app {
namespace {

struct Options {
  ExperimentOptions experiment;
  LimitOptions limits;
  std::string output, synchroniser = "window", progress = "auto";
  bool force = false;
};

sim::SimulationResult simulate(const Options& options, const experiment::Experiment& experiment,
                               const experiment::Estimate& expected, Communicator& comm) {
  const bool shown = comm.rank() == 0 && options.progress != "off";
  ProgressDisplay progress(shown ? options.progress : "off", stderr, expected);
  experiment::RunOptions how{options.synchroniser, interrupted, {}};
  if (shown) how.progress = [&](const auto& report, const auto& done) { progress.report(report, done); };
  return experiment::run(experiment, comm, how);
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

results::Provenance provenance(const Options& options, const Prepared& job, const Arguments& arguments,
                               const std::string& started, const pdes::RunStatistics& own, Communicator& comm) {
  results::Provenance p;
  p.experiment_given = job.given;
  p.experiment_resolved = job.resolved;
  p.command = arguments.text();
  p.calibration = job.experiment->calibration;
  p.version = TESSERA_VERSION;
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  p.host = host.data();
  p.started = started;
  p.seed = static_cast<std::uint64_t>(job.experiment->simulation.seed);
  p.ranks = comm.size();
  p.synchroniser = options.synchroniser;
  p.partition = job.experiment->simulation.partition;
  const auto total = [&](std::uint64_t value) {
    return static_cast<std::uint64_t>(comm.sum(static_cast<std::int64_t>(value)));
  };
  const auto longest = [&](double seconds) {
    return 1e-9 * static_cast<double>(comm.max(static_cast<std::int64_t>(seconds * 1e9)));
  };
  p.wall_seconds = longest(own.wall_seconds);
  p.waiting_seconds = longest(own.waiting_seconds);
  p.events = total(own.events);
  p.rounds = static_cast<std::uint64_t>(comm.max(static_cast<std::int64_t>(own.rounds)));
  p.messages = total(own.messages);
  return p;
}

ExitCode run(const Options& options, const Arguments& arguments, Communicator& comm) {
  const std::string started = utc_now();
  const Prepared job =
      prepare(options.experiment, options.limits, {options.output, options.force}, options.progress, comm);
  const experiment::Estimate expected = estimate_where_it_can_run(*job.experiment, comm);
  const sim::SimulationResult result = simulate(options, *job.experiment, expected, comm);
  const auto written = provenance(options, job, arguments, started, result.statistics, comm);
  if (comm.rank() == 0) print_warnings(result.warnings);
  results::write(options.output, result.results, written, comm, results::Transport::automatic, options.force);
  // Behind the last that takes time: whoever looks at a file from now on sees what it is then.
  if (comm.rank() == 0) print_warnings(experiment::changed_files(job.experiment->files));
  together(comm, [&] {
    if (comm.rank() != 0) return;
    print(search_report(*job.experiment));
    print(results::summary(options.output, results::Checking::none));
  });
  return ExitCode::done;
}

}  // namespace

Command add_run(CLI::App& app, Arguments arguments) {
  auto o = std::make_shared<Options>();
  CLI::App* options = app.add_subcommand("run", "Simulate an experiment; under mpirun or srun on all its ranks.");
  o->experiment.add_to(*options);
  o->limits.add_to(*options);
  options->add_option("-o,--output", o->output, "the result file to write (HDF5)")->required();
  options->add_option("--sync", o->synchroniser, "how ranks stay in step; no result depends on it")
      ->check(CLI::IsMember(pdes::synchroniser_kinds()))
      ->capture_default_str();
  add_progress(*options, o->progress);
  options->add_flag("--force", o->force, "replace an existing output");
  return {options, [o, arguments] {
            return on_all_ranks(arguments, [&](Communicator& comm) { return run(*o, arguments, comm); });
          }};
}

}  // namespace tessera::app
