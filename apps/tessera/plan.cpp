// tessera plan: what a strategy's search finds, as a file that a person can read and that run takes.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "command.hpp"
#include "on_ranks.hpp"
#include "tessera/base/together.hpp"
#include "tessera/results/results.hpp"
#include "tessera/sim/simulate.hpp"

namespace tessera::app {
namespace {

struct Options {
  ExperimentOptions experiment;
  std::string output;
  bool force = false;
};

ExitCode plan(const Options& options, Communicator& comm) {
  const Prepared job = prepare(options.experiment, {options.output, options.force}, comm);
  together(comm, [&] {
    if (comm.rank() != 0) return;
    const experiment::Experiment& experiment = *job.experiment;
    sim::SimulationOptions simulation;
    simulation.partition = experiment.simulation.partition;
    simulation.allow_oversubscription = experiment.simulation.allow_oversubscription;
    for (const std::string& warning :
         sim::check(experiment.machine, experiment.plan.program, *experiment.cost, 1, simulation))
      std::fprintf(stderr, "warning: %s\n", warning.c_str());
    config::Diagnostics diagnostics;
    const auto resolved = config::parse_toml(job.resolved, "resolved experiment", diagnostics);
    diagnostics.throw_if_errors();
    const std::string text = experiment::plan_text(experiment, *resolved, TESSERA_VERSION);
    results::write_text(options.output, text);
    std::fputs(text.c_str(), stdout);
  });
  return ExitCode::done;
}

}  // namespace

Command add_plan(CLI::App& app, Arguments arguments) {
  auto o = std::make_shared<Options>();
  CLI::App* options = app.add_subcommand("plan", "Find the best plan of an experiment's strategy; under mpirun too.");
  o->experiment.add_to(*options);
  options->add_option("-o,--output", o->output, "the plan file to write (TOML), which run --plan takes")->required();
  options->add_flag("--force", o->force, "replace an existing output");
  return {options,
          [o, arguments] { return on_all_ranks(arguments, [&](Communicator& comm) { return plan(*o, comm); }); }};
}

}  // namespace tessera::app
