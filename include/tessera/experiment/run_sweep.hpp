// A sweep carried out into a folder, by as many ranks, processes and jobs as there are (docs/sweeps.md).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tessera/base/error.hpp"
#include "tessera/experiment/run.hpp"
#include "tessera/experiment/sweep.hpp"

namespace tessera::experiment {

/// What simulating a point costs, as estimate() says.
struct PointCost {
  double events = 0;               ///< 0: of one that cannot run
  ExitCode code = ExitCode::done;  ///< with which it ends for certain
  bool searches = false;           ///< its strategy has to search before: as many events as the greatest
};

/// Of each point. The same on every rank of `comm`, which share the work.
[[nodiscard]] std::vector<PointCost> costs_of(const Sweep& sweep, Communicator& comm,
                                              const std::function<bool()>& interrupted = {});

/// Points in the order in which they are begun: long ones first, of equals the one of the lower number.
[[nodiscard]] std::vector<std::int64_t> longest_first(const std::vector<PointCost>& costs);

/// The points of share `index` of `count`, 1 <= index <= count, longest first: shares cost about the same.
[[nodiscard]] std::vector<std::int64_t> share_of(const std::vector<PointCost>& costs, int index, int count);

/// How far a sweep is, of all that work on its folder.
struct SweepProgress {
  std::int64_t points = 0;   ///< to be done in all
  std::int64_t done = 0;     ///< simulated
  std::int64_t refused = 0;  ///< bad input, or does not fit
  std::int64_t failed = 0;
  double share = 0;  ///< of the work of this call, 0 to 1
};

struct SweepRunOptions {
  std::string folder;
  std::vector<std::int64_t> points;  ///< in the order in which they are begun
  std::vector<PointCost> costs;      ///< by point
  int ranks_per_point = 1;
  bool keep_files = true;  ///< a result file for each point, beside its row
  bool repeat = false;     ///< also points that are complete
  std::string synchroniser = "window";
  std::string cache;  ///< folder of Cache; empty: none
  RunRecord record;
  std::function<bool()> interrupted;                   ///< polled on every rank; true ends the sweep (IoError)
  std::function<void(const SweepProgress&)> progress;  ///< on rank 0
  std::function<void(const std::string&)> warn;        ///< on rank 0
};

/// What became of the points of one call.
/// Points that ended with 4 or 5.
struct SweepFailure {
  ExitCode code = ExitCode::io;
  std::int64_t points = 0;    ///< how many
  std::int64_t first = 0;     ///< number of the first
  std::string name, message;  ///< of the first
};

struct SweepOutcome {
  std::int64_t points = 0;
  std::int64_t found_complete = 0;  ///< when the call began: done, refused or infeasible before
  std::int64_t done = 0, refused = 0, infeasible = 0, failed = 0;
  /// Or the higher of io and internal that a point ended with, or that of all points where `refused_alike` says so.
  ExitCode code = ExitCode::done;
  std::vector<SweepFailure> failures;  ///< by code
  std::string refused_alike;           ///< the words that refuse every point; empty: they differ, or some are done
  /// Name of the fastest point, or where all that are done make tokens, of that which makes the most a second; empty:
  /// none is done.
  std::string best;
  bool best_is_uncalibrated = false;  ///< and others are calibrated, so that it does not rank beside them
  Time fastest_time = 0;              ///< 0: they are compared by tokens
  double tokens_per_second = 0;       ///< 0: they are compared by time
};

/// Refuses a folder that holds another sweep (InputError) or cannot be written (IoError). Leaves it alone.
void check_folder(const Sweep& sweep, const std::string& folder);

/// On all ranks of `comm`, each with the same sweep. Ranks form teams, which take the next point when they are free,
/// and so do other processes that work on the folder at the same time: no point is done twice at once. Points that are
/// complete are passed over: of the same sweep, version and schema, and not failed. On return every point of the call
/// has its row. The outcome is known on rank 0. IoError when it is interrupted, or the folder cannot be written.
[[nodiscard]] SweepOutcome run_sweep(const Sweep& sweep, Communicator& comm, const SweepRunOptions& options);

}  // namespace tessera::experiment
