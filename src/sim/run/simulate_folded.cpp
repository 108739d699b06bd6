#include "sim/run/simulate_folded.hpp"

#include <utility>

#include "sim/laws/law.hpp"
#include "sim/laws/replicas/find_fold.hpp"
#include "sim/laws/replicas/unfold_results.hpp"
#include "sim/run/block_simulation.hpp"
#include "tessera/base/error.hpp"

namespace tessera::sim {
namespace {

[[noreturn]] void refuse(const std::string& problem) {
  throw KeyError("simulation.fold", "replicas cannot be folded: " + problem + "; \"none\" simulates them all");
}

std::unique_ptr<Fold> fold_of(const machine::Machine& machine, const program::Program& program,
                              const NetworkTables& tables) {
  if (const std::string other = other_arbitration(machine.network); !other.empty()) refuse(other);
  program::Lowerings lowerings(program, machine);
  FoundFold found = find_fold(machine, lowerings, tables);
  if (!found.fold) refuse(found.problem);
  return std::move(found.fold);
}

}  // namespace

FoldFacts fold_facts(const machine::Machine& machine, const program::Program& program) {
  if (program.replicas.size() == 1) return {};
  const auto fold = fold_of(machine, program, NetworkTables(machine.network));
  return {fold->block(), std::int64_t{fold->block()} * fold->order(), static_cast<std::int64_t>(fold->orders().size())};
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
  std::string problem = simulate_block(job, comm, folded);
  if (!problem.empty()) return problem;
  unfold(*fold, machine, comm, folded.results);
  result = std::move(folded);
  return {};
}

}  // namespace tessera::sim
