// tessera run: an experiment, simulated on all ranks, into a result file.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <chrono>
#include <cstdio>
#include <ctime>

#include "command.hpp"
#include "estimate.hpp"
#include "experiment_options.hpp"
#include "fits_computer.hpp"
#include "interrupts.hpp"
#include "on_ranks.hpp"
#include "progress.hpp"
#include "tessera/base/comm.hpp"
#include "tessera/base/together.hpp"
#include "tessera/results/results.hpp"
#include "tessera/sim/simulate.hpp"

namespace tessera::app {
namespace {

struct Options {
  ExperimentOptions experiment;
  std::string output, synchroniser = "window", progress = "auto";
  bool force = false;
};

sim::SimulationResult simulate(const Options& options, const experiment::Experiment& experiment,
                               const Estimate& expected, Communicator& comm) {
  const bool shown = comm.rank() == 0 && options.progress != "off";
  ProgressDisplay progress(shown ? options.progress : "off", stderr, expected);
  sim::SimulationOptions simulation = simulation_options(experiment);
  simulation.run.synchroniser = options.synchroniser;
  simulation.run.interrupted = interrupted;
  if (shown) {
    simulation.progress = [&](const auto& report, const auto& done) { progress.report(report, done); };
  }
  return sim::simulate(experiment.machine, experiment.plan.program, *experiment.cost, comm, simulation);
}

/// What the simulation does not know: names, and what the strategy says of its plan.
void describe(const experiment::Experiment& experiment, results::RunResults& results) {
  const strategy::Plan& plan = experiment.plan;
  results.title = experiment.title;
  results.machine = experiment.machine.name;
  results.calibration = experiment.calibration;
  results.model = experiment.model ? experiment.model->name : "";
  results.strategy = experiment.strategy.name;
  results.plan = plan.description;
  for (const auto& [what, time] : experiment.searched.predicted) results.predicted.push_back({what, time});
  for (const program::search::Tried& one : experiment.searched.table)
    results.search.push_back({one.step, one.candidate, program::name_of(one.fidelity), one.cost, one.accepted,
                              one.reason, one.best, one.origin, one.predicted});
  results.search_is_timed = experiment.searched.is_timed;
  results.model_flops = plan.model_flops;
  results.hardware_flops = plan.hardware_flops;
  results.parameters = plan.parameters;
  results.tokens = plan.tokens;
  const auto peak = experiment.machine.device.peak.find(experiment.workload.datatype);
  results.peak_flops = peak == experiment.machine.device.peak.end() ? 0 : peak->second;
  results.memory_capacity = experiment.machine.device.memory_capacity;
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
  const Prepared job = prepare(options.experiment, {options.output, options.force}, options.progress, comm);
  const Estimate expected = estimate_where_it_can_run(*job.experiment, comm);
  sim::SimulationResult result = simulate(options, *job.experiment, expected, comm);
  describe(*job.experiment, result.results);
  const auto written = provenance(options, job, arguments, started, result.statistics, comm);
  if (comm.rank() == 0) {
    for (const std::string& warning : result.warnings) std::fprintf(stderr, "warning: %s\n", warning.c_str());
  }
  results::write(options.output, result.results, written, comm, results::Transport::automatic, options.force);
  together(comm, [&] {
    if (comm.rank() == 0) print(results::summary(options.output, results::Checking::none));
  });
  return ExitCode::done;
}

}  // namespace

Command add_run(CLI::App& app, Arguments arguments) {
  auto o = std::make_shared<Options>();
  CLI::App* options = app.add_subcommand("run", "Simulate an experiment; under mpirun or srun on all its ranks.");
  o->experiment.add_to(*options);
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
