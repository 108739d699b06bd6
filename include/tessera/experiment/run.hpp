// An experiment carried out: what `tessera run`, sweeps, tests and programs that link Tessera call.
//
//   config::Diagnostics diagnostics;
//   Source source;
//   together(comm, [&] {   // what fails on one rank fails on all
//     if (comm.rank() == 0) source = load("gpt3.toml", {}, input_folders(), diagnostics);
//     diagnostics.throw_if_errors();
//   });
//   source = shared(std::move(source), comm);   // nobody else reads files
//   const auto experiment = build(*source.table, diagnostics, {}, source.files);
//   diagnostics.throw_if_errors();
//   search(*source.table, *experiment, comm, {}, diagnostics);   // where the strategy leaves something open
//   diagnostics.throw_if_errors();
//   const results::RunResults results = run(*experiment, comm).results;
#pragma once

#include <functional>
#include <string>

#include "tessera/experiment/experiment.hpp"
#include "tessera/sim/simulate.hpp"

namespace tessera::experiment {

/// How it is simulated: no result depends on it.
struct RunOptions {
  std::string synchroniser = "window";  ///< one of pdes::synchroniser_kinds()
  std::function<bool()> interrupted;    ///< as in pdes::RunOptions; may be empty
  std::function<void(const pdes::ProgressReport&, const sim::WorkDone&)> progress;  ///< on rank 0; may be empty
  std::function<void(const std::string&)> warn;                                     ///< as in sim::SimulationOptions
  sim::RanksUsed ranks_used = sim::RanksUsed::all;
  sim::WorkDone all_work;  ///< the same
};

/// On all ranks of `comm`, each with the same experiment, whose program is there. Each has its own devices' rows, and
/// names, plan and totals as everybody. Throws as sim::simulate().
[[nodiscard]] sim::SimulationResult run(const Experiment& experiment, Communicator& comm,
                                        const RunOptions& options = {});

/// What is known of the experiment without a run: names, and what its search tried.
[[nodiscard]] results::RunResults search_results(const Experiment& experiment);

/// Who carried out a run, and when.
struct RunRecord {
  std::string command, version;
  std::string started;  ///< utc_now()
};
/// ISO 8601.
[[nodiscard]] std::string utc_now();

/// For results::write(), on all ranks of `comm`. `given`, `resolved`: texts of the experiment. `own`: of this rank, and
/// its `events` by kind.
[[nodiscard]] results::Provenance provenance(const Experiment& experiment, const std::string& given,
                                             const std::string& resolved, const std::string& synchroniser,
                                             const RunRecord& record, const sim::SimulationResult& result,
                                             Communicator& comm);

/// FLOP/s of one device in the datatype that the job computes with; 0: the device states none, or a graph has several.
[[nodiscard]] std::int64_t peak_flops(const Experiment& experiment);

/// What the experiment says of its simulation.
[[nodiscard]] sim::SimulationOptions simulation_options(const Experiment& experiment);

}  // namespace tessera::experiment
