#include "sim/fold/simulate_folded.hpp"

#include <fmt/format.h>

#include <utility>

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
  BlockSimulation(const FoldedJob& job, std::uint32_t base)
      : fold_(job.fold.simulated_at(base)),
        witness_(job.fold, base),
        usage_(job.fold.ever_splits() ? job.machine.network.links.size() : 0, &splits_),
        simulation_(
            std::make_unique<RankSimulation>(job.machine, job.program, job.cost, job.alone, job.options, part())) {}

  /// What goes on behind splits may be something that cannot be.
  void try_to(const auto& run) {
    try {
      run(*simulation_);
    } catch (const Error& error) {
      if (splits_.starts.empty() || error.code() == ExitCode::io) throw;
      splits_.failed = true;
    }
  }
  [[nodiscard]] RankSimulation& simulation() { return *simulation_; }
  /// What is told of it stays.
  void forget_simulation() { simulation_.reset(); }
  [[nodiscard]] std::uint64_t witness() const { return witness_.sum(); }
  [[nodiscard]] Splits& splits() { return splits_; }
  [[nodiscard]] Usage& usage() { return usage_; }

 private:
  FoldedPart part() {
    return {&fold_, fold_.orders().size() > 1 ? &witness_ : nullptr, &splits_, fold_.ever_splits() ? &usage_ : nullptr};
  }

  Fold fold_;
  Witness witness_;
  Splits splits_;
  Usage usage_;
  std::unique_ptr<RankSimulation> simulation_;
};

/// Of what comes at the same time the lower number comes first: in other replicas, perhaps another part of the machine.
bool others_do_the_same(const FoldedJob& job, const BlockSimulation& first, const auto& run) {
  for (const std::uint32_t base : job.fold.orders()) {
    if (base == 0) continue;
    BlockSimulation other(job, base);
    other.try_to(run);
    if (other.splits().failed || other.witness() != first.witness()) return false;
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

std::string described(const std::string& name, Time first, Time last) {
  return name + " up to " + time_text(first) + ", the last part of it up to " + time_text(last);
}

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

/// Each device goes on from where it split off up to `until`, and then all go on together. False: it is not as if all
/// had been one simulation; never so where none splits off before.
bool go_on_apart_until(const FoldedJob& job, Communicator& comm, Time until, SimulationResult& result) {
  BlockSimulation block(job, 0);
  pdes::RunStatistics before;
  bool is_like_all = true;
  const auto run = [&](RankSimulation& one) { before = one.run_before(until, job.options.run); };
  together(comm, [&] {
    run(block.simulation());
    is_like_all = block.splits().failed || others_do_the_same(job, block, run);
  });
  if (!is_like_all) refuse_ties();
  if (block.splits().failed) return false;
  RankSimulation all(job.machine, job.program, job.cost, comm, job.options, block.simulation(), block.splits(), nullptr,
                     until);
  static_cast<void>(all.run_before(until, job.options.run));
  const bool is_free = all.join(block.simulation(), until);
  if (comm.max(block.splits().failed || !is_free ? 1 : 0) != 0) return false;
  all.run(job.options, result);
  add_counts(before, block.simulation().events(), result);
  return true;
}

std::unique_ptr<Fold> fold_of(const machine::Machine& machine, const program::Program& program,
                              const NetworkTables& tables) {
  program::Lowerings lowerings(program, machine);
  FoundFold found = find_fold(machine, lowerings, tables);
  if (!found.fold) refuse(found.problem);
  return std::move(found.fold);
}

// A collective over replicas that a device has carried out once before it split off, in the midst of which a message of
// those that have split off may come: from there on it may as well be one of these.
std::unique_ptr<Fold> with_earlier_splits(const FoldedJob& job, const Splits& splits) {
  if (job.options.laws == Laws::trains || job.options.laws == Laws::none)
    return nullptr;  // with an event for each step
  auto earlier = std::make_unique<Fold>(job.fold);
  bool any = false;
  for (const auto& [collective, carried] : splits.carried) {
    if (carried.times > 1 || carried.until < splits.starts.front().at) continue;
    earlier->add_split(collective.first, carried.group);
    any = true;
  }
  return any ? std::move(earlier) : nullptr;
}

// To the end, or until all devices have split off. Null: other replicas do not do the same.
std::unique_ptr<BlockSimulation> simulate_block(const FoldedJob& job, Communicator& comm, SimulationResult& result) {
  const std::uint32_t replicas = job.fold.block();
  result.fold = fmt::format("{} of {} replicas simulated for all", replicas, replicas * job.fold.order());
  std::unique_ptr<BlockSimulation> block;
  bool is_like_all = true;
  together(comm, [&] {
    block = std::make_unique<BlockSimulation>(job, 0);
    const auto run = [&](RankSimulation& one) { static_cast<void>(one.run(job.options.run)); };
    block->try_to([&](RankSimulation& one) { one.run(job.options, result); });
    block->usage().sort();
    is_like_all = block->splits().failed || others_do_the_same(job, *block, run);
  });
  return is_like_all ? std::move(block) : nullptr;
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
  SimulationResult folded;
  std::unique_ptr<BlockSimulation> block = simulate_block(job, comm, folded);
  if (block == nullptr) refuse_ties();
  if (block->splits().starts.empty()) {
    unfold(*fold, machine, comm, folded.results);
    result = std::move(folded);
    return;
  }
  const Time first = block->splits().starts.front().at;
  if (const std::unique_ptr<Fold> earlier = with_earlier_splits(job, block->splits())) {
    block.reset();  // it takes less time than room
    folded = {};
    const FoldedJob other{machine, program, cost, own, *earlier, tables, *alone};
    SimulationResult before;
    const std::unique_ptr<BlockSimulation> other_block = simulate_block(other, comm, before);
    if (other_block != nullptr && go_on_apart(other, comm, *other_block, std::move(before), result) == never) return;
    block = simulate_block(job, comm, folded);
  }
  const std::string name = folded.fold;
  const Time until = go_on_apart(job, comm, *block, std::move(folded), result);
  block.reset();
  if (until == never) return;
  result.fold = described(name, first, until);
  if (until > first && go_on_apart_until(job, comm, until, result)) return;
  result.fold = name + " up to " + time_text(first) + ", then each";
  if (!go_on_apart_until(job, comm, first, result)) throw InternalError("replicas that have not split do not go on");
}

}  // namespace tessera::sim
