#include "sim/fold/simulate_folded.hpp"

#include <fmt/format.h>

#include "sim/fold/find_fold.hpp"
#include "sim/fold/unfold_results.hpp"
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
        witness_(job.fold, job.tables, base),
        simulation_(job.machine, job.program, job.cost, job.alone, job.options,
                    FoldedPart{&fold_, job.fold.orders().size() > 1 ? &witness_ : nullptr}) {}

  /// From when on it could not go on; never: it came to its end.
  Time run(const auto& act) {
    try {
      act(simulation_);
    } catch (const Error&) {
      if (simulation_.split_at() == never) throw;
    }
    return simulation_.split_at();
  }
  [[nodiscard]] RankSimulation& simulation() { return simulation_; }
  [[nodiscard]] std::uint64_t witness() const { return witness_.sum(); }

 private:
  Fold fold_;
  Witness witness_;
  RankSimulation simulation_;
};

/// The first block, with the results of all or, where it could not go on, as it was then.
struct Folded {
  std::unique_ptr<BlockSimulation> block;
  Time split_at = never;
  pdes::RunStatistics before_split;
};

Folded simulate_block(const FoldedJob& job, SimulationResult& result) {
  Folded folded;
  folded.block = std::make_unique<BlockSimulation>(job, 0);
  folded.split_at = folded.block->run([&](RankSimulation& all) { all.run(job.options, result); });
  if (folded.split_at == never) return folded;
  folded.block = std::make_unique<BlockSimulation>(job, 0);  // what has failed is in the midst of an event
  folded.before_split = folded.block->simulation().run_until(folded.split_at, job.options.run);
  return folded;
}

/// Of what comes at the same time the lower number comes first: in other replicas, perhaps another part of the machine.
bool others_do_the_same(const FoldedJob& job, const Folded& folded) {
  const auto same = [&](RankSimulation& other) {
    folded.split_at == never ? other.run(job.options.run) : other.run_until(folded.split_at, job.options.run);
  };
  for (const std::uint32_t base : job.fold.orders()) {
    if (base == 0) continue;
    BlockSimulation other(job, base);
    if (other.run(same) != never || other.witness() != folded.block->witness()) return false;
  }
  return true;
}

std::string text_of(const Fold& fold, Time split_at) {
  const std::string until =
      split_at == never ? "" : " up to " + config::format_rounded(split_at, config::Unit::time) + ", then each";
  return fmt::format("{} of {} replicas simulated for all{}", fold.block(), fold.block() * fold.order(), until);
}

/// All components go on from there.
void simulate_rest(const FoldedJob& job, Communicator& comm, Folded& folded, SimulationResult& result) {
  RankSimulation& before = folded.block->simulation();
  RankSimulation(job.machine, job.program, job.cost, comm, job.options, before).run(job.options, result);
  const std::vector<results::NamedCount> counts = before.events();
  for (std::size_t i = 0; i < counts.size(); ++i) result.events[i].count += counts[i].count;
  result.statistics.events += folded.before_split.events;
  result.statistics.skips += folded.before_split.skips;
  result.statistics.wall_seconds += folded.before_split.wall_seconds;
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
  Folded folded;
  bool is_like_all = true;
  together(comm, [&] {
    folded = simulate_block(job, result);
    is_like_all = others_do_the_same(job, folded);
  });
  if (!is_like_all)
    refuse("somewhere messages come at the same time, and of those others come first in other replicas");
  result.fold = text_of(*fold, folded.split_at);
  if (folded.split_at == never) return unfold(*fold, machine, comm, result.results);
  simulate_rest(job, comm, folded, result);
}

}  // namespace tessera::sim
