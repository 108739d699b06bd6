#include "sim/fold/simulate_folded.hpp"

#include <fmt/format.h>

#include <utility>

#include "sim/fold/block_simulation.hpp"
#include "sim/fold/find_fold.hpp"
#include "sim/fold/unfold_results.hpp"
#include "tessera/base/config.hpp"

namespace tessera::sim {
namespace {

[[noreturn]] void refuse(const std::string& problem) {
  throw KeyError("simulation.fold", "replicas cannot be folded: " + problem + "; \"none\" simulates them all");
}

/// What has become of a simulation in which devices have split off.
enum class Outcome : std::uint8_t {
  done,
  meets,  ///< it is not as if all had been one simulation
  ties,   ///< other replicas do not do the same
};

void add_counts(const pdes::RunStatistics& statistics, const std::vector<results::NamedCount>& counts,
                SimulationResult& result) {
  for (std::size_t i = 0; i < counts.size(); ++i) result.events[i].count += counts[i].count;
  result.statistics.events += statistics.events;
  result.statistics.skips += statistics.skips;
  result.statistics.wall_seconds += statistics.wall_seconds;
}

std::string time_text(Time time) { return config::format_rounded(time, config::Unit::time); }

std::string described(const std::string& name, Time first, Time last) {
  return name + " up to " + time_text(first) + ", the last part of it up to " + time_text(last);
}

constexpr const char* ties =
    "somewhere several messages come at the same time, and another one of them comes first in other replicas";

/// When two simulations have used a link at the same time first.
Time first_meeting(const FoldedJob& job, const Usage& folded, const Usage& all) {
  Time first = never;
  for (machine::LinkId link = 0; link < job.machine.network.links.size(); ++link) {
    if (all.of(link).empty() || !job.fold.link_takes_part(link)) continue;
    first = std::min(first, first_meeting(all.of(link), folded.of(job.fold.simulated_link(link))));
  }
  return first;
}

/// Each device goes on from where it split off. Until when that is as if all had been one simulation; never: to the
/// end, and `result` is that of all; 0: it is not known.
Time go_on_apart(const FoldedJob& job, Communicator& comm, BlockSimulation& block, SimulationResult before,
                 SimulationResult& result) {
  Splits& splits = block.splits();
  if (splits.failed || splits.starts.empty()) return 0;
  Usage usage(job.machine.network.links.size(), nullptr);
  usage.ignore_from(time_after(block.usage().last(), 1));
  result = {};
  result.fold = described(before.fold, splits.starts.front().at, splits.starts.back().at);
  result.warnings = before.warnings;
  before.results = {};
  RankSimulation all(job.machine, job.program, job.cost, comm, job.options, block.simulation(), splits, &usage);
  block.forget_simulation();
  bool ended = true;
  const auto meeting = [&] { return -comm.max(-first_meeting(job, block.usage(), usage)); };
  Time until = never;
  try {
    const Time last = time_after(block.usage().last(), 1);  // when they can meet
    static_cast<void>(all.run_before(last, job.options.run));
    all.tell_use(last);
    until = meeting();
    if (until != never) return until;
    all.leave_out_rounds();
    all.run(job.options, result);
  } catch (const Error& error) {  // on all ranks: perhaps of something that cannot be
    if (error.code() == ExitCode::io) throw;
    ended = false;
  }
  until = meeting();
  if (until == never && comm.max(splits.failed || !ended ? 1 : 0) != 0) return 0;
  if (until == never) add_counts(before.statistics, before.events, result);
  return until;
}

/// Each device goes on from where it split off up to `until`, and then all go on together. It never meets where none
/// splits off before.
Outcome go_on_apart_until(const FoldedJob& job, Communicator& comm, Time until, SimulationResult& result) {
  pdes::RunStatistics before;
  const auto [block, problem] = simulate_block_before(job, comm, until, before);
  if (!problem.empty()) return Outcome::ties;
  if (block->splits().failed) return Outcome::meets;
  RankSimulation all(job.machine, job.program, job.cost, comm, job.options, block->simulation(), block->splits(),
                     nullptr, until);
  static_cast<void>(all.run_before(until, job.options.run));
  const bool is_free = all.join(block->simulation(), until);
  if (comm.max(block->splits().failed || !is_free ? 1 : 0) != 0) return Outcome::meets;
  all.run(job.options, result);
  add_counts(before, block->simulation().events(), result);
  return Outcome::done;
}

std::unique_ptr<Fold> fold_of(const machine::Machine& machine, const program::Program& program,
                              const NetworkTables& tables) {
  if (const std::string& arbitration = machine.network.arbitration; arbitration != "fifo")
    refuse("links arbitrate by " + arbitration);
  program::Lowerings lowerings(program, machine);
  FoundFold found = find_fold(machine, lowerings, tables);
  if (!found.fold) refuse(found.problem);
  return std::move(found.fold);
}

// A collective over replicas that a device has carried out once before it split off, in the midst of which a message of
// those that have split off may come: from there on it may as well be one of these.
std::unique_ptr<Fold> with_earlier_splits(const FoldedJob& job, const Splits& splits) {
  if (!job.options.laws.has(Law::rings)) return nullptr;  // with an event for each step
  auto earlier = std::make_unique<Fold>(job.fold);
  bool any = false;
  for (const auto& [collective, carried] : splits.carried) {
    if (carried.times > 1 || carried.until < splits.starts.front().at) continue;
    earlier->add_split(collective.first, carried.group);
    any = true;
  }
  return any ? std::move(earlier) : nullptr;
}

/// Of replicas that do the same until some devices split off: folded up to there.
std::string go_on_behind(const FoldedJob& job, Communicator& comm, std::unique_ptr<BlockSimulation> block,
                         SimulationResult folded, SimulationResult& result) {
  const std::string name = folded.fold;
  const Time first = block->splits().starts.front().at;
  if (const std::unique_ptr<Fold> earlier = with_earlier_splits(job, block->splits())) {
    block.reset();  // it takes less time than room
    folded = {};
    const FoldedJob other{job.machine, job.program, job.cost, job.options, *earlier, job.tables, job.alone};
    SimulationResult before;
    const SimulatedBlock made = simulate_block(other, comm, before);
    if (made.problem.empty() && go_on_apart(other, comm, *made.block, std::move(before), result) == never) return {};
    block = simulate_block(job, comm, folded).block;
  }
  const Time until = go_on_apart(job, comm, *block, std::move(folded), result);
  block.reset();
  if (until == never) return {};
  if (until > first) {
    result = {};
    result.fold = described(name, first, until);
    const Outcome outcome = go_on_apart_until(job, comm, until, result);
    if (outcome == Outcome::done) return {};
    if (outcome == Outcome::ties) return ties;
  }
  result = {};
  result.fold = name + " up to " + time_text(first) + ", then each";
  const Outcome outcome = go_on_apart_until(job, comm, first, result);
  if (outcome == Outcome::meets) throw InternalError("replicas that have not split do not go on");
  return outcome == Outcome::ties ? ties : "";
}

}  // namespace

FoldFacts fold_facts(const machine::Machine& machine, const program::Program& program) {
  if (program.replicas.size() == 1) return {};
  const auto fold = fold_of(machine, program, NetworkTables(machine.network));
  return {fold->block(), std::int64_t{fold->block()} * fold->order(), !fold->ever_splits(),
          static_cast<std::int64_t>(fold->orders().size())};
}

std::string simulate_folded(const machine::Machine& machine, const program::Program& program,
                            const workload::CostModel& cost, Communicator& comm, const SimulationOptions& options,
                            SimulationResult& result) {
  const NetworkTables tables(machine.network);
  const std::unique_ptr<Fold> fold = fold_of(machine, program, tables);
  const auto alone = make_serial_communicator();
  SimulationOptions own = options;
  if (comm.rank() > 0) own.progress = nullptr;
  const FoldedJob job{machine, program, cost, own, *fold, tables, *alone};
  SimulationResult folded;
  auto [block, problem] = simulate_block(job, comm, folded);
  if (!problem.empty()) return problem;
  if (!block->splits().starts.empty()) return go_on_behind(job, comm, std::move(block), std::move(folded), result);
  unfold(*fold, machine, comm, folded.results);
  result = std::move(folded);
  return {};
}

}  // namespace tessera::sim
