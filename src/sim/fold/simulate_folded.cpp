#include "sim/fold/simulate_folded.hpp"

#include <fmt/format.h>

#include "sim/fold/find_fold.hpp"
#include "sim/fold/unfold_results.hpp"
#include "sim/fold/usage.hpp"
#include "sim/fold/witness.hpp"
#include "sim/rank_simulation.hpp"
#include "tessera/base/config.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/together.hpp"

namespace tessera::sim {
namespace {

[[noreturn]] void refuse(const std::string& problem) {
  throw KeyError("simulation.fold", "replicas cannot be folded: " + problem + "; \"none\" simulates them all");
}

[[noreturn]] void refuse_ties() {
  refuse("somewhere messages come at the same time, and of those others come first in other replicas");
}

/// What all simulations of replicas have in common.
struct FoldedJob {
  const machine::Machine& machine;
  const program::Program& program;
  const workload::CostModel& cost;
  const SimulationOptions& options;
  const Fold& fold;
  const NetworkTables& tables;
  Communicator& alone;
};

/// A block of replicas, `base` shifts from the first one.
class BlockSimulation {
 public:
  enum class Until { end, split };
  BlockSimulation(const FoldedJob& job, std::uint32_t base, Until until)
      : fold_(job.fold.simulated_at(base)),
        witness_(job.fold, job.tables, base),
        usage_(job.machine.network.links.size(), &splits_),
        simulation_(job.machine, job.program, job.cost, job.alone, job.options, part(until)) {}

  /// What goes on behind splits may be something that cannot be.
  void try_to(const auto& run) {
    try {
      run(simulation_);
    } catch (const Error& error) {
      if (splits_.starts.empty() || error.code() == ExitCode::io) throw;
      splits_.failed = true;
    }
  }
  [[nodiscard]] RankSimulation& simulation() { return simulation_; }
  [[nodiscard]] std::uint64_t witness() const { return witness_.sum(); }
  [[nodiscard]] Splits& splits() { return splits_; }
  [[nodiscard]] const Usage& usage() const { return usage_; }

 private:
  FoldedPart part(Until until) {
    FoldedPart part{&fold_};
    if (fold_.orders().size() > 1) part.witness = &witness_;
    part.splits = &splits_;
    if (fold_.ever_splits() && until == Until::end) part.usage = &usage_;
    return part;
  }

  Fold fold_;
  Witness witness_;
  Splits splits_;
  Usage usage_;
  RankSimulation simulation_;
};

/// Of what comes at the same time the lower number comes first: in other replicas, perhaps another part of the machine.
bool others_do_the_same(const FoldedJob& job, BlockSimulation::Until until, const BlockSimulation& first,
                        const auto& run) {
  for (const std::uint32_t base : job.fold.orders()) {
    if (base == 0) continue;
    BlockSimulation other(job, base, until);
    other.try_to(run);
    const bool split_before = until == BlockSimulation::Until::split && !other.splits().starts.empty();
    if (split_before || other.splits().failed || other.witness() != first.witness()) return false;
  }
  return true;
}

void add_counts(const pdes::RunStatistics& statistics, const std::vector<results::NamedCount>& counts,
                SimulationResult& result) {
  for (std::size_t i = 0; i < counts.size(); ++i) result.events[i].count += counts[i].count;
  result.statistics.events += statistics.events;
  result.statistics.skips += statistics.skips;
  result.statistics.wall_seconds += statistics.wall_seconds;
}

std::string time_text(Time time) { return config::format_rounded(time, config::Unit::time); }

/// When two simulations have used a link at the same time first.
Time first_meeting(const FoldedJob& job, const Usage& folded, const Usage& all) {
  Time first = never;
  for (machine::LinkId link = 0; link < job.machine.network.links.size(); ++link) {
    const pdes::ComponentId server = job.tables.server(link);
    if (all.of(link).empty() || !job.fold.takes_part(server)) continue;
    const std::uint32_t back = job.fold.order() - job.fold.place(server).shifts;
    first = std::min(first, first_meeting(all.of(link), folded.of(job.fold.shifted_link(job.tables, link, back))));
  }
  return first;
}

/// No use of a link is left out.
SimulationOptions round_by_round(const FoldedJob& job) {
  SimulationOptions options = job.options;
  if (options.laws == Laws::all) options.laws = Laws::rings;
  return options;
}

/// Each device goes on from where it split off. Until when that is as if all had been one simulation; never: to the
/// end, and `result` is that of all; 0: it is not known.
Time go_on_apart(const FoldedJob& job, Communicator& comm, BlockSimulation& block, SimulationResult& result) {
  Splits& splits = block.splits();
  if (splits.failed) return 0;
  Usage usage(job.machine.network.links.size(), nullptr);
  usage.ignore_from(time_after(block.usage().last(), 1));
  const SimulationOptions options = round_by_round(job);
  const SimulationResult before = std::move(result);
  result = {};
  result.fold = before.fold;
  result.warnings = before.warnings;
  RankSimulation all(job.machine, job.program, job.cost, comm, options, block.simulation(), &splits, &usage);
  bool ended = true;
  const auto meeting = [&] { return -comm.max(-first_meeting(job, block.usage(), usage)); };
  Time until = never;
  try {
    const Time last = time_after(block.usage().last(), 1);  // when they can meet
    static_cast<void>(all.run_before(last, options.run));
    all.tell_use(last);
    until = meeting();
    if (until != never) return until;
    all.run(options, result);
  } catch (const Error& error) {  // on all ranks: perhaps of something that cannot be
    if (error.code() == ExitCode::io) throw;
    ended = false;
  }
  until = meeting();
  if (until == never && comm.max(splits.failed || !ended ? 1 : 0) != 0) return 0;
  if (until == never) add_counts(before.statistics, before.events, result);
  return until;
}

/// Each device goes on from where it split off up to `until`, and then all go on together. False: it is not as if all
/// had been one simulation.
bool go_on_apart_until(const FoldedJob& job, Communicator& comm, Time until, SimulationResult& result) {
  BlockSimulation block(job, 0, BlockSimulation::Until::end);
  pdes::RunStatistics before;
  together(comm, [&] { before = block.simulation().run_until(until, job.options.run); });
  if (block.splits().failed) return false;
  const SimulationOptions options = round_by_round(job);
  RankSimulation all(job.machine, job.program, job.cost, comm, options, block.simulation(), &block.splits(), nullptr,
                     until);
  static_cast<void>(all.run_until(until, options.run));
  const bool is_free = all.join(block.simulation(), until);
  if (comm.max(block.splits().failed || !is_free ? 1 : 0) != 0) return false;
  all.run(options, result);
  add_counts(before, block.simulation().events(), result);
  return comm.max(block.splits().failed ? 1 : 0) == 0;
}

/// All go on from where the first one splits off.
void go_on_together(const FoldedJob& job, Communicator& comm, Time split_at, SimulationResult& result) {
  constexpr auto until = BlockSimulation::Until::split;
  std::unique_ptr<BlockSimulation> block;
  pdes::RunStatistics before;
  bool is_like_all = true;
  const auto run = [&](RankSimulation& one) { return one.run_until(split_at, job.options.run); };
  together(comm, [&] {
    block = std::make_unique<BlockSimulation>(job, 0, until);
    before = run(block->simulation());
    is_like_all = others_do_the_same(job, until, *block, run);
  });
  if (!is_like_all) refuse_ties();
  RankSimulation all(job.machine, job.program, job.cost, comm, job.options, block->simulation(), nullptr, nullptr);
  all.run(job.options, result);
  add_counts(before, block->simulation().events(), result);
}

std::unique_ptr<Fold> fold_of(const machine::Machine& machine, const program::Program& program,
                              const NetworkTables& tables) {
  program::Lowerings lowerings(program, machine);
  FoundFold found = find_fold(machine, lowerings, tables);
  if (!found.fold) refuse(found.problem);
  return std::move(found.fold);
}

}  // namespace

FoldFacts fold_facts(const machine::Machine& machine, const program::Program& program) {
  if (program.replicas.size() == 1) return {};
  const auto fold = fold_of(machine, program, NetworkTables(machine.network));
  return {fold->block(), std::int64_t{fold->block()} * fold->order(), !fold->ever_splits()};
}

void simulate_folded(const machine::Machine& machine, const program::Program& program, const workload::CostModel& cost,
                     Communicator& comm, const SimulationOptions& options, SimulationResult& result) {
  const NetworkTables tables(machine.network);
  const std::unique_ptr<Fold> fold = fold_of(machine, program, tables);
  const auto alone = make_serial_communicator();
  SimulationOptions own = options;
  if (comm.rank() > 0) own.progress = nullptr;
  const FoldedJob job{machine, program, cost, own, *fold, tables, *alone};
  result.fold = fmt::format("{} of {} replicas simulated for all", fold->block(), fold->block() * fold->order());
  std::unique_ptr<BlockSimulation> block;
  bool is_like_all = true;
  together(comm, [&] {
    constexpr auto until = BlockSimulation::Until::end;
    block = std::make_unique<BlockSimulation>(job, 0, until);
    const auto run = [&](RankSimulation& one) { static_cast<void>(one.run(job.options.run)); };
    block->try_to([&](RankSimulation& one) { one.run(job.options, result); });
    is_like_all = block->splits().failed || others_do_the_same(job, until, *block, run);
  });
  if (!is_like_all) refuse_ties();
  const std::vector<Splits::Start>& starts = block->splits().starts;
  if (starts.empty()) return unfold(*fold, machine, comm, result.results);
  const Time first = starts.front().at;
  const std::string shared = result.fold + " up to " + time_text(first);
  result.fold = shared + ", the last part of it up to " + time_text(starts.back().at);
  const Time until = go_on_apart(job, comm, *block, result);
  block.reset();
  if (until == never) return;
  result.fold = shared + ", the last part of it up to " + time_text(until);
  if (until > first && go_on_apart_until(job, comm, until, result)) return;
  result.fold = shared + ", then each";
  go_on_together(job, comm, first, result);
}

}  // namespace tessera::sim
