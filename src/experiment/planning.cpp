// From a checked [strategy] table to a program that the machine can carry out.
#include "planning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <sstream>

#include "cache.hpp"
#include "job_of.hpp"
#include "tessera/base/error.hpp"
#include "tessera/results/results.hpp"
#include "tessera/sim/simulate.hpp"

namespace tessera::experiment {
namespace {

using config::Diagnostics;
using config::Table;

/// What this rank does by itself.
template <class Step>
void alone(const Experiment& experiment, const Step& step, bool is_searched_next = false) {
  const auto comm = make_serial_communicator();
  program::search::Memo memo;
  const JobOf job(experiment, *comm, memo, {}, is_searched_next);
  step(job.job());
}

/// Operators of a graph have datatypes of their own: where the device cannot compute with one of them, it is the
/// node's, whatever the workload says.
config::Location blamed(const Table& resolved, const Experiment& experiment, const KeyError& error) {
  if (error.key != "workload.datatype" || !experiment.graph) return place_of(resolved, error.key);
  const auto& peaks = experiment.machine.device.peak;
  const auto is_refused = [&](const workload::Operator& op) {
    return workload::uses_matrix_units(op.kind) && peaks.count(op.datatype) == 0;
  };
  const std::vector<workload::GraphNode>& nodes = experiment.graph->nodes;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (std::ranges::any_of(nodes[i].work.forward, is_refused)) return place_of_datatype(resolved, i);
  }
  return place_of(resolved, error.key);
}

/// A problem of the strategy, where no key is known that is to blame.
void reported(const Table& resolved, const Experiment& experiment, const config::Location& otherwise,
              Diagnostics& diagnostics, const std::function<void()>& step) {
  try {
    step();
  } catch (const KeyError& error) {
    diagnostics.error(blamed(resolved, experiment, error), error.what());
  } catch (const InputError& error) {
    report_each_line(otherwise, error.what(), diagnostics);
  }
}

/// A program that the machine can carry out.
void write_program(const Table& resolved, const Table& strategy, Experiment& experiment, Diagnostics& diagnostics) {
  reported(resolved, experiment, strategy.where(), diagnostics, [&] {
    alone(experiment, [&](const strategy::Job& job) { experiment.plan = experiment.strategy.program(strategy, job); });
    results::check_tables(tables_of(experiment));  // now, not when the simulation is over
    if (const std::string bytes = bytes_of_one(experiment); !bytes.empty())
      experiment.plan.description.emplace_back("in " + experiment.workload.datatype, bytes);
    if (const std::string products = products_of_their_own(experiment); !products.empty())
      experiment.plan.description.emplace_back("products in", products);
    sim::refuse_unrepresentable(experiment.machine, experiment.plan.program, *experiment.cost);
    // What a search has found is a plan all the same.
    if (experiment.open.empty())
      experiment.fold = sim::fold_facts(experiment.machine, experiment.plan.program, simulation_options(experiment));
  });
}

const Table& strategy_of(const Table& resolved) { return *resolved.find("strategy")->table(); }

/// The search itself, and what it measured kept, also when it does not come to its end.
void search_keeping(const Table& resolved, Experiment& experiment, Communicator& comm, const SearchOptions& options,
                    Diagnostics& diagnostics) {
  Kept kept = read_cache(options.cache, resolved, comm, diagnostics);
  const JobOf job(experiment, comm, kept.memo, options, false, comm.size() == 1 ? &experiment.fastest : nullptr);
  experiment.search_began = std::chrono::steady_clock::now();
  try {
    experiment.searched = experiment.strategy.search(strategy_of(resolved), job.job());
  } catch (const Error& error) {
    // On all ranks alike, but for mistakes in the program.
    if (error.code() != ExitCode::internal) write_cache(options.cache, resolved, kept, comm, diagnostics);
    throw;
  }
  write_cache(options.cache, resolved, kept, comm, diagnostics);
}

}  // namespace

void report_each_line(const config::Location& where, const std::string& lines, Diagnostics& diagnostics) {
  std::istringstream text(lines);
  for (std::string line; std::getline(text, line);) diagnostics.error(where, line);
}

std::vector<DataTable> tables_of(const Experiment& experiment) {
  std::vector<DataTable> tables = experiment.searched.tables;
  tables.insert(tables.end(), experiment.plan.tables.begin(), experiment.plan.tables.end());
  return tables;
}

void check_strategy(const Table& resolved, Experiment& experiment, bool is_searched_next, Diagnostics& diagnostics) {
  const Table& table = strategy_of(resolved);
  reported(resolved, experiment, table.where(), diagnostics, [&] {
    const auto check = [&](const strategy::Job& job) {
      experiment.open = experiment.strategy.check(table, job, diagnostics);
    };
    alone(experiment, check, is_searched_next);
  });
  if (!diagnostics.ok()) return;
  if (experiment.open.empty()) return write_program(resolved, table, experiment, diagnostics);
  const std::vector<config::OpenKey> open = experiment.strategy.schema().open_keys(table);
  if (experiment.simulation.allow_oversubscription && !open.empty())
    diagnostics.error(open.front().where,
                      fmt::format("\"{}\" is open together with simulation.allow_oversubscription: a "
                                  "search takes only what fits into memory",
                                  open.front().key));
}

namespace {

void find_plan(const Table& resolved, Experiment& experiment, Communicator& comm, const SearchOptions& options,
               Diagnostics& diagnostics) {
  if (!experiment.strategy.search) {
    if (!experiment.open.empty()) throw InternalError("strategy " + experiment.strategy.name + " has no search");
    return;
  }
  const Table& table = strategy_of(resolved);
  const config::Value* name = table.find("name");
  reported(resolved, experiment, name == nullptr ? table.where() : name->where(), diagnostics,
           [&] { search_keeping(resolved, experiment, comm, options, diagnostics); });
  if (!experiment.searched.nothing_fits.empty()) throw InfeasibleError(experiment.searched.nothing_fits);
  if (!diagnostics.ok() || experiment.open.empty()) return;
  const auto whole = config::clone(table);
  if (experiment.searched.found != nullptr) config::merge(*whole, *experiment.searched.found);
  write_program(resolved, *whole, experiment, diagnostics);
}

}  // namespace

void search(const Table& resolved, Experiment& experiment, Communicator& comm, const SearchOptions& options,
            Diagnostics& diagnostics) {
  find_plan(resolved, experiment, comm, options, diagnostics);
  write_costs(options.cache, resolved, *experiment.cost, comm, diagnostics);
}

}  // namespace tessera::experiment
