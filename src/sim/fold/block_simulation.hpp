// A block of replicas that are alike (fold.hpp), simulated for all.
#pragma once

#include <memory>
#include <string>

#include "sim/fold/usage.hpp"
#include "sim/fold/witness.hpp"
#include "sim/rank_simulation.hpp"
#include "tessera/base/error.hpp"

namespace tessera::sim {

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

/// A block of replicas, so many shifts from the first one.
class BlockSimulation {
 public:
  BlockSimulation(const FoldedJob& job, std::uint32_t base)
      : base_(base),
        fold_(job.fold.simulated_at(base)),
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
      splits_.failed = is_broken_ = true;
    }
  }
  /// It cannot go on.
  [[nodiscard]] bool is_broken() const { return is_broken_; }
  [[nodiscard]] std::uint32_t base() const { return base_; }
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

  std::uint32_t base_;
  bool is_broken_ = false;
  Fold fold_;
  Witness witness_;
  Splits splits_;
  Usage usage_;
  std::unique_ptr<RankSimulation> simulation_;
};

/// The first block, and why it cannot stand for all; empty: it can.
struct SimulatedBlock {
  std::unique_ptr<BlockSimulation> block;
  std::string problem;
};

/// The first block to the end, or until all its devices have split off; its results as well. Where other replicas have
/// their component numbers in another order (Fold::orders), some of each order beside it: they have to do the same.
/// All ranks call it, and simulate the same.
[[nodiscard]] SimulatedBlock simulate_block(const FoldedJob& job, Communicator& comm, SimulationResult& result);
/// The same up to a time, without results.
[[nodiscard]] SimulatedBlock simulate_block_before(const FoldedJob& job, Communicator& comm, Time end,
                                                   pdes::RunStatistics& statistics);

}  // namespace tessera::sim
