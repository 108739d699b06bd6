// What the subcommands share that work on all ranks of an mpirun.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "command.hpp"
#include "experiment_options.hpp"
#include "tessera/base/comm.hpp"
#include "tessera/experiment/run.hpp"

namespace tessera::app {

/// An experiment, the same on every rank.
struct Prepared {
  std::string given, resolved;
  std::shared_ptr<config::Table> table;  ///< of the resolved text
  std::unique_ptr<experiment::Experiment> experiment;
  std::map<std::string, results::Replacing> standing;  ///< by output, on rank 0: what stood there at the beginning

  [[nodiscard]] results::Replacing standing_at(const std::string& output) const;
};

/// What is written at the end, and refused at once where it cannot be.
struct Outputs {
  std::string path;
  bool replace = false;
  std::string candidates = {};        ///< a table of all; empty: none. Refused where no key is open.
  std::string history = {};           ///< what the search tried; empty: none. Refused where nothing is searched.
  experiment::RunRecord record = {};  ///< for the history
};

/// Rank 0 alone reads files; the others build from the one text that they are sent. What can be refused is refused
/// before a strategy searches, which `limits` may end. A search that finds nothing leaves its history all the same.
/// `progress`: the mode of a ProgressLine. From the search on
/// signals are noted (interrupts.hpp).
[[nodiscard]] Prepared prepare(const ExperimentOptions& options, const LimitOptions& limits, const Outputs& outputs,
                               const std::string& progress, Communicator& comm);

/// Writes Outputs::history, where one is asked for. On all ranks.
void write_history(const Outputs& outputs, const Prepared& job, Communicator& comm);

/// All processes that were started together; without MPI, unless --mpi says otherwise, where no launcher has started
/// this one.
class Ranks {
 public:
  explicit Ranks(Arguments arguments);
  [[nodiscard]] Communicator& world() { return session_ ? session_->world() : *alone_; }
  /// The process that speaks for all that were started together, also where each of them is alone in MPI.
  [[nodiscard]] bool is_first();
  /// Ends all at once; alone it returns the code.
  ExitCode abort(ExitCode code);

 private:
  std::unique_ptr<MpiSession> session_;
  std::unique_ptr<Communicator> alone_;
};

/// Errors on purpose are thrown on every rank alike. Anything else may have happened on this rank alone,
/// while the others wait for it: it ends all of them at once.
ExitCode on_all_ranks(Arguments arguments, const std::function<ExitCode(Communicator&)>& action);

}  // namespace tessera::app
