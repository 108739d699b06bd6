// tessera plan: what a strategy's search finds, as a file that a person can read and that run takes.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "command.hpp"
#include "on_ranks.hpp"
#include "progress.hpp"
#include "search_report.hpp"
#include "spare_memory.hpp"
#include "tessera/base/together.hpp"
#include "tessera/experiment/candidates.hpp"
#include "tessera/results/points.hpp"
#include "tessera/results/results.hpp"

namespace tessera::app {
namespace {

struct PlanOptions {
  ExperimentOptions experiment;
  LimitOptions limits;
  std::string output, all, history, command, progress = "auto";
  bool force = false;
};

void write_candidates(const PlanOptions& options, const Prepared& job) {
  results::PointsTable table = experiment::candidates_table(*job.experiment, job.given, *job.table, TESSERA_VERSION);
  table.provenance.push_back({"command", options.command, "The command line."});
  results::write_points(options.all, table, job.standing_at(options.all));
}

/// Without what it was made for, which is long and for `run --plan`.
std::string for_readers(const std::string& plan) {
  const std::size_t end = plan.find("\n[made_for");
  return end == std::string::npos ? plan : plan.substr(0, end);
}

ExitCode plan(const PlanOptions& options, Communicator& comm) {
  const Outputs outputs{options.output,
                        options.force,
                        options.all,
                        options.history,
                        {options.command, TESSERA_VERSION, experiment::utc_now()}};
  const Prepared job = prepare(options.experiment, options.limits, outputs, options.progress, comm);
  write_history(outputs, job, comm);
  together(comm, [&] {
    if (comm.rank() != 0) return;
    check_simulation(*job.experiment, 1);
    const std::string text = experiment::plan_text(*job.experiment, *job.table, TESSERA_VERSION);
    if (!options.all.empty()) write_candidates(options, job);
    results::write_text(options.output, text, job.standing_at(options.output));
    print_warnings(experiment::changed_files(job.experiment->files));
    print(search_report(*job.experiment));
    const experiment::Estimate expected = experiment::estimate(*job.experiment);
    if (const std::string warning = spare_warning(*job.experiment, expected); !warning.empty())
      print_warnings({warning});
    print("# memory to spare: " + spare_text(*job.experiment, expected) + "\n");
    print(for_readers(text));
  });
  return ExitCode::done;
}

}  // namespace

Command add_plan(CLI::App& app, Arguments arguments) {
  auto o = std::make_shared<PlanOptions>();
  CLI::App* options = app.add_subcommand("plan", "Find the best plan of an experiment's strategy; under mpirun too.");
  o->experiment.add_to(*options);
  o->limits.add_to(*options);
  options->add_option("-o,--output", o->output, "the plan file to write (TOML), which run --plan takes")->required();
  options->add_option("--all", o->all, "every candidate of the open keys, as a table (HDF5) that show and plots read");
  options->add_option("--history", o->history, "what the search tried, in its order, as a table (HDF5)");
  add_progress(*options, o->progress);
  options->add_flag("--force", o->force, "replace existing outputs");
  return {options, [o, arguments] {
            o->command = arguments.text();
            return on_all_ranks(arguments, [&](Communicator& comm) { return plan(*o, comm); });
          }};
}

}  // namespace tessera::app
