// Carries a program out on a machine: every device, every message, on all ranks.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "tessera/base/comm.hpp"
#include "tessera/machine/machine.hpp"
#include "tessera/pdes/side_by_side.hpp"
#include "tessera/program/evaluator.hpp"
#include "tessera/program/program.hpp"
#include "tessera/results/results.hpp"
#include "tessera/sim/laws.hpp"
#include "tessera/workload/operator.hpp"

namespace tessera::sim {

/// What the devices of one rank have done so far, for progress displays: program::totals says how much there is.
struct WorkDone {
  std::int64_t devices = 0;
  double flops = 0;
  double bytes_sent = 0;
};

/// Which devices are simulated. Results are the same.
enum class Folding : std::uint8_t {
  none,       ///< all
  replicas,   ///< of replicas of the model that are alike one for all; refused where they are not
  automatic,  ///< with Law::fold, of whatever the program knows to be alike (Program::alike) one for all
};

/// On which ranks what is not folded is simulated. Results are the same.
enum class RanksUsed : std::uint8_t {
  all,
  automatic,  ///< on the first one, as long as all would not be faster
};

struct SimulationOptions {
  Laws laws = Laws::all;
  Folding fold = Folding::automatic;
  std::string partition = "auto";
  bool record_timeline = false;
  bool record_memory = false;
  Time traffic_interval = 0;            ///< of the traffic of memories over time; 0: it is not recorded
  bool allow_oversubscription = false;  ///< too little memory only warns
  RanksUsed ranks_used = RanksUsed::all;
  WorkDone all_work;        ///< about; what RanksUsed::automatic goes by, zeros: it is not known
  bool is_checked = false;  ///< there is nothing to refuse in the program: known from check()
  pdes::RunOptions run;
  std::function<void(const pdes::ProgressReport&, const WorkDone&)>
      progress;  ///< rank 0, a few times a second; may be empty
  /// Rank 0: what is found out on the way, at once; empty: it is one of the warnings of the result.
  std::function<void(const std::string&)> warn;
};

struct SimulationResult {
  results::RunResults results;              ///< this rank's rows; iteration time and names on every rank
  pdes::RunStatistics statistics;           ///< of this rank
  std::vector<results::NamedCount> events;  ///< by kind, of this rank
  std::string fold;                         ///< "1 of 128 replicas simulated for all"; empty: nothing was folded
  int ranks_used = 0;                       ///< 0: all of them, or each has simulated the same parts
  std::string not_folded;                   ///< why nothing was; empty: it was, or nobody asked
  std::vector<std::string> warnings;
};

/// Runs `program` on all ranks of `comm`. Every rank passes the same machine and program.
/// InfeasibleError: out of memory (before time zero; at its time where several streams of a device allocate), or a
/// deadlock (devices, what each waits for, since when). InputError: more ranks than can be used, a link of zero latency
/// that could be split, a datatype without a peak. KeyError: Folding::replicas that cannot be folded, known before time
/// zero (fold_facts()); what is found out on the way is a warning, and all of them are simulated.
/// One that RunOptions::is_over cuts off (statistics.cut_off) has nothing but an iteration time, and no iteration ends
/// before that.
[[nodiscard]] SimulationResult simulate(const machine::Machine& machine, const program::Program& program,
                                        const workload::CostModel& cost, Communicator& comm,
                                        const SimulationOptions& options);

/// A program, and what its simulation came to.
struct Simulated {
  program::Program program;
  SimulationResult result;
};

/// What each rank did, and when the last device ended.
struct SideBySide {
  std::vector<pdes::RunStatistics> ranks;
  Time iteration_time = 0;
};

/// The same simulation on so many ranks in this process, without MPI (pdes::SideBySide): what each of them has to
/// do in each window. Errors as in simulate.
[[nodiscard]] SideBySide simulate_side_by_side(const machine::Machine& machine, const program::Program& program,
                                               const workload::CostModel& cost, int ranks,
                                               const SimulationOptions& options,
                                               const std::function<void(const pdes::Window&)>& each);

/// Throws InputError for sizes of an L2 or a Tracker that make no sense together.
void refuse_gpu(const machine::GpuSpec& gpu);

/// Throws InputError for what the simulator cannot represent, or the machine not do: packets of less than a picosecond,
/// messages of too many packets, kernels on a device without [transaction], a Tracker too small for them, operators
/// without a time. KeyError where one key is to blame. simulate and check call it too.
void refuse_unrepresentable(const machine::Machine& machine, const program::Program& program,
                            const workload::CostModel& cost);

/// Throws InfeasibleError when a device needs more memory than it has; where it may, that is the warning returned.
[[nodiscard]] std::vector<std::string> refuse_memory(const machine::Machine& machine, const program::Program& program,
                                                     bool allow_oversubscription);

/// What a folding comes to.
struct FoldFacts {
  std::string name;                       ///< of what is alike: "replicas"; empty: nothing is folded
  std::int64_t simulated = 1, parts = 1;  ///< so many of them stand for all
  /// Of what comes at the same time others may come first elsewhere: where that happens, so many times as many are
  /// simulated, and all where they do not agree.
  std::int64_t orders = 1;
  std::string problem;  ///< why nothing is folded that was asked for; empty: there is no reason
};
/// Throws KeyError for Folding::replicas that are not alike, and says what differs. One alone is simulated as it is.
[[nodiscard]] FoldFacts fold_facts(const machine::Machine& machine, const program::Program& program,
                                   const SimulationOptions& options);

/// Throws InputError for more ranks than the machine can be spread over, or a link of zero latency that would be split,
/// whatever is run on it.
void refuse_ranks(const machine::Machine& machine, int ranks, const std::string& partition);

/// Throws what simulate would throw before time zero on that many ranks (check_program, memory, partition, datatypes),
/// and returns the warnings that it would return; `options.run` plays no part. Serial, no MPI. For `tessera check`.
[[nodiscard]] std::vector<std::string> check(const machine::Machine& machine, const program::Program& program,
                                             const workload::CostModel& cost, int ranks,
                                             const SimulationOptions& options);

/// What an evaluator is watched by while it simulates; all of it may be empty.
struct Watch {
  std::function<bool()> interrupted;   ///< as in pdes::RunOptions
  std::function<bool()> is_over;       ///< the same: the evaluation is cut off
  std::function<void(Time)> progress;  ///< on rank 0 of a team, a few times a second: the time that is simulated
  /// What one rank has simulated alone to its end, of programs that may become the plan.
  std::function<void(const program::Program&, SimulationResult)> simulated = {};
};

/// The evaluator behind program::Evaluator, without recording.
[[nodiscard]] std::unique_ptr<program::Evaluator> make_evaluator(const machine::Machine& machine,
                                                                 const workload::CostModel& cost, Watch watch = {});

}  // namespace tessera::sim
