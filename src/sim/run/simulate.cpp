#include "tessera/sim/simulate.hpp"

#include <algorithm>

#include "sim/laws/law.hpp"
#include "sim/run/alone.hpp"
#include "sim/run/rank_simulation.hpp"
#include "sim/run/refuse.hpp"
#include "sim/run/simulate_folded.hpp"

namespace tessera::sim {
namespace {

/// Whether what devices hold at most depends on how their streams meet.
bool shares_memory(const program::Program& program) {
  const ProgramFacts facts(program);
  return std::ranges::any_of(program.devices, [&](const auto& device) { return facts.shares_memory(device); });
}

/// All replicas are simulated although one should have stood for others.
void warn_unfolded(const std::string& problem, const Communicator& comm, const SimulationOptions& options,
                   std::vector<std::string>& warnings) {
  const std::string warning = "simulation.fold: replicas cannot be folded, all of them are simulated: " + problem;
  if (!options.warn) {
    warnings.push_back(warning);
  } else if (comm.rank() == 0) {
    options.warn(warning);
  }
}

// Queues of memories are most of what kernels at transaction level do: ranks share them well.
bool begins_alone(const program::Program& program, const Communicator& comm, const SimulationOptions& options) {
  return options.ranks_used == RanksUsed::automatic && comm.size() > 1 && program.kernels.empty() &&
         !options.run.is_over;
}

}  // namespace

SimulationResult simulate(const machine::Machine& machine, const program::Program& program,
                          const workload::CostModel& cost, Communicator& comm, const SimulationOptions& options) {
  SimulationResult result;
  std::vector<std::string> warnings;
  if (!options.is_checked) warnings = refuse(machine, program, cost, options.allow_oversubscription);
  FoldTry fold;
  if (folding_of(options) != Folding::none) fold = simulate_folded(machine, program, cost, comm, options, result);
  if (options.fold == Folding::replicas && !fold.problem.empty()) warn_unfolded(fold.problem, comm, options, warnings);
  if (!fold.is_folded &&
      !(begins_alone(program, comm, options) && simulate_alone(machine, program, cost, comm, options, result)))
    RankSimulation(machine, program, cost, comm, options).run(options, result);
  result.not_folded = std::move(fold.problem);
  result.warnings = std::move(warnings);
  if (shares_memory(program) && options.allow_oversubscription) {
    auto held = warn_of_held(machine, program, result.results, comm);
    if (!held.empty()) result.warnings = std::move(held);
  }
  return result;
}

SideBySide simulate_side_by_side(const machine::Machine& machine, const program::Program& program,
                                 const workload::CostModel& cost, int ranks, const SimulationOptions& options,
                                 const std::function<void(const pdes::Window&)>& each) {
  static_cast<void>(refuse(machine, program, cost, options.allow_oversubscription));
  std::vector<std::unique_ptr<Communicator>> comms;
  std::vector<std::unique_ptr<RankSimulation>> all;
  std::vector<pdes::Simulation*> simulations;
  for (int rank = 0; rank < ranks; ++rank) {
    comms.push_back(pdes::make_virtual_rank(rank, ranks));
    all.push_back(std::make_unique<RankSimulation>(machine, program, cost, *comms.back(), options));
    simulations.push_back(&all.back()->simulation());
  }
  SideBySide result{pdes::SideBySide(simulations).run(options.run, each), 0};
  for (const auto& rank : all) {
    rank->finish(options.run);
    result.iteration_time = std::max(result.iteration_time, rank->finished());
  }
  return result;
}

void refuse_ranks(const machine::Machine& machine, int ranks, const std::string& partition) {
  program::Program nothing;
  nothing.devices.resize(machine.devices());
  program::Lowerings lowerings(nothing, machine);
  const NetworkModel network(machine, lowerings);
  const CreateComponent none = [](pdes::ComponentId) { return nullptr; };  // nothing is run
  static_cast<void>(partition_model(machine, nothing, network, ranks, partition, none));
}

std::vector<std::string> check(const machine::Machine& machine, const program::Program& program,
                               const workload::CostModel& cost, int ranks, const SimulationOptions& options) {
  std::vector<std::string> warnings = refuse(machine, program, cost, options.allow_oversubscription);
  program::Lowerings lowerings(program, machine);
  const NetworkModel network(machine, lowerings);
  const CreateComponent none = [](pdes::ComponentId) { return nullptr; };  // nothing is run
  static_cast<void>(partition_model(machine, program, network, ranks, options.partition, none));
  static_cast<void>(fold_facts(machine, program, options));
  return warnings;
}

}  // namespace tessera::sim
