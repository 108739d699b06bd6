// A block of parts that are alike (fold.hpp), simulated for all.
#pragma once

#include <string>

#include "sim/laws/fold/ties.hpp"
#include "sim/laws/fold/witness.hpp"
#include "sim/run/rank_simulation.hpp"

namespace tessera::sim {

/// What all simulations of parts have in common.
struct FoldedJob {
  const machine::Machine& machine;
  const program::Program& program;
  const workload::CostModel& cost;
  const SimulationOptions& options;
  const Fold& fold;
  const NetworkTables& tables;
  Communicator& alone;
};

/// A block of parts, so many shifts from the first one.
class BlockSimulation {
 public:
  BlockSimulation(const FoldedJob& job, std::uint32_t base)
      : base_(base),
        fold_(job.fold.simulated_at(base)),
        witness_(job.fold, base),
        ties_(job.fold, job.tables),
        simulation_(job.machine, job.program, job.cost, job.alone, job.options, part()) {}

  [[nodiscard]] std::uint32_t base() const { return base_; }
  [[nodiscard]] RankSimulation& simulation() { return simulation_; }
  [[nodiscard]] std::uint64_t witness() const { return witness_.sum(); }
  /// Of the first block: whether others may do something else (laws/fold/ties.hpp).
  [[nodiscard]] bool may_differ(Time before) { return ties_.any(before); }

 private:
  FoldedPart part() {
    if (fold_.contested().empty()) return {&fold_};
    if (fold_.goes_by_ends()) return {&fold_, nullptr, &ties_};
    return {&fold_, &witness_, base_ == 0 ? &ties_ : nullptr};
  }

  std::uint32_t base_;
  Fold fold_;
  Witness witness_;
  PossibleTies ties_;
  RankSimulation simulation_;
};

/// The first block to the end, with its results. Where other parts have their component numbers in another order
/// (Fold::orders), and that may make a difference, some of each order beside it: they have to do the same. All ranks
/// call it, and simulate the same.
/// Returns why it cannot stand for all; empty: it can.
[[nodiscard]] std::string simulate_block(const FoldedJob& job, Communicator& comm, SimulationResult& result);

}  // namespace tessera::sim
