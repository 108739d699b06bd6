#include "on_ranks.hpp"

#include <algorithm>
#include <cstdio>

#include "interrupts.hpp"
#include "launch.hpp"
#include "progress.hpp"
#include "tessera/base/together.hpp"
#include "tessera/results/results.hpp"

namespace tessera::app {

namespace {

void search(const Prepared& job, const std::string& cache, const program::search::Limits& limits,
            const std::string& mode, Communicator& comm) {
  config::Diagnostics diagnostics;
  SearchDisplay display(comm.rank() == 0 ? mode : "off", stderr);
  std::function<void(const program::search::Progress&)> progress;  // none: ranks need not tell each other
  if (mode != "off") progress = [&display](const program::search::Progress& now) { display.report(now); };
  const auto warn = [&] {
    if (comm.rank() == 0) print_warnings(diagnostics.warnings());
  };
  try {
    experiment::search(*job.table, *job.experiment, comm, {{cache, TESSERA_VERSION}, {interrupted, progress}, limits},
                       diagnostics);
  } catch (const Error&) {
    warn();
    throw;
  }
  warn();
  diagnostics.throw_if_errors();
}

std::vector<std::string> paths_of(const Outputs& outputs) {
  std::vector<std::string> paths{outputs.path};
  for (const std::string& more : {outputs.candidates, outputs.history}) {
    if (!more.empty()) paths.push_back(more);
  }
  return paths;
}

std::map<std::string, results::Replacing> check_outputs(const ExperimentOptions& options, const Outputs& outputs) {
  std::map<std::string, results::Replacing> standing;
  for (const std::string& path : paths_of(outputs)) standing[path] = check_output(options, path, outputs.replace);
  std::vector<std::string> paths = paths_of(outputs);
  std::ranges::sort(paths);
  if (std::ranges::adjacent_find(paths) != paths.end())
    throw InputError("tessera plan: two of -o, --all and --history name one file");
  return standing;
}

/// What is asked of a search over open keys, and of no other.
void check_open(const Prepared& job, const LimitOptions& limits, const Outputs& outputs) {
  if (!outputs.history.empty() && job.experiment->open.empty())
    throw InputError("--history: nothing is searched, since [strategy] leaves nothing open");
  const char* asked = !outputs.candidates.empty() ? "--all"
                      : !limits.within.empty()    ? "--within"
                      : !limits.budget.empty()    ? "--budget"
                                                  : nullptr;
  const config::Table& strategy = *job.table->find("strategy")->table();
  if (asked == nullptr || !job.experiment->strategy.schema().open_keys(strategy).empty()) return;
  throw InputError(std::string(asked) +
                   ": there are no candidates, since no key of [strategy] is open (\"any\", or a list of values)");
}

}  // namespace

results::Replacing Prepared::standing_at(const std::string& output) const {
  const auto found = standing.find(output);
  return found == standing.end() ? results::Replacing{} : found->second;
}

Prepared prepare(const ExperimentOptions& options, const LimitOptions& limits, const Outputs& outputs,
                 const std::string& progress, Communicator& comm) {
  const program::search::Limits how_far = limits.parsed();
  experiment::Source source;
  std::map<std::string, results::Replacing> standing;
  together(comm, [&] {
    if (comm.rank() != 0) return;
    standing = check_outputs(options, outputs);
    source = load(options);
    for (const std::string& path : paths_of(outputs)) results::check_distinct(path, files_of(source));
  });
  source = experiment::shared(std::move(source), comm);
  Prepared job{source.given, config::to_toml(*source.table), source.table, nullptr, std::move(standing)};
  config::Diagnostics of_cache;
  const experiment::KeptCosts costs =
      experiment::read_costs({options.cache, TESSERA_VERSION}, *job.table, comm, of_cache);
  if (comm.rank() == 0) print_warnings(of_cache.warnings());
  together(comm, [&] {
    job.experiment = build(*job.table, std::move(source.files), comm.rank() != 0, true, costs);
    check_open(job, limits, outputs);
    sim::refuse_ranks(job.experiment->machine, comm.size(), job.experiment->simulation.partition);
  });
  catch_interrupts();
  try {
    search(job, options.cache, how_far, progress, comm);
  } catch (const InfeasibleError&) {
    if (!job.experiment->searched.table.empty()) write_history(outputs, job, comm);
    throw;
  }
  return job;
}

void write_history(const Outputs& outputs, const Prepared& job, Communicator& comm) {
  if (outputs.history.empty()) return;
  const results::Provenance provenance =
      experiment::provenance(*job.experiment, job.given, job.resolved, "", outputs.record, {}, comm);
  together(comm, [&] {
    if (comm.rank() == 0)
      results::write_history(outputs.history, experiment::search_results(*job.experiment), provenance,
                             job.standing_at(outputs.history));
  });
}

Ranks::Ranks(Arguments arguments) {
  // Without a launcher there is but this process, and MPI takes longer to start than most runs take.
  if (arguments.mpi == "on" || (arguments.mpi == "auto" && is_launched()))
    session_ = std::make_unique<MpiSession>(arguments.count, arguments.values);
  else
    alone_ = make_serial_communicator();
}

bool Ranks::is_first() { return world().rank() == 0 && (world().size() > 1 || find_launch().number == 0); }

ExitCode Ranks::abort(ExitCode code) {
  if (session_) session_->abort(static_cast<int>(code));
  return code;
}

ExitCode on_all_ranks(Arguments arguments, const std::function<ExitCode(Communicator&)>& action) {
  Ranks ranks(arguments);
  Communicator& comm = ranks.world();
  const Launch launch = find_launch();
  return guarded(!ranks.is_first(), [&] {
    try {
      check_launch(launch, comm.size(), arguments.mpi);
      return action(comm);
    } catch (const Error& error) {
      if (error.code() != ExitCode::internal) throw;
      std::fprintf(stderr, "%s\n", internal_message(error.what()).c_str());
    } catch (const std::bad_alloc&) {
      std::fprintf(stderr, "rank %d: %s\n", comm.rank(), out_of_memory);
      return ranks.abort(ExitCode::io);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", internal_message(error.what()).c_str());
    }
    return ranks.abort(ExitCode::internal);
  });
}

}  // namespace tessera::app
