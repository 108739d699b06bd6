#include "sim/run/simulate_folded.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "sim/laws/fold/find_fold.hpp"
#include "sim/laws/fold/unfold_results.hpp"
#include "sim/laws/law.hpp"
#include "sim/run/block_simulation.hpp"
#include "tessera/base/error.hpp"

namespace tessera::sim {
namespace {

[[noreturn]] void refuse(const std::string& problem) {
  throw KeyError("simulation.fold", "replicas cannot be folded: " + problem + "; \"none\" simulates them all");
}

/// What may be folded, that with the most parts first.
std::vector<const program::AlikeParts*> candidates(const program::Program& program, Folding folding) {
  std::vector<const program::AlikeParts*> all;
  for (const program::AlikeParts& alike : program.alike)
    if (folding == Folding::automatic || alike.name == "replicas") all.push_back(&alike);
  if (folding == Folding::replicas && all.empty()) refuse("this strategy names no replicas of the model");
  std::erase_if(all, [](const program::AlikeParts* alike) { return alike->parts.size() < 2; });
  std::ranges::stable_sort(all, std::ranges::greater{}, [](const auto* alike) { return alike->parts.size(); });
  return all;
}

/// Tries one candidate after the other, and where one that goes by ends is no use, what shifts find of it, with
/// use(alike, fold), which says what is wrong with it, or nothing. What was wrong is that of the first one.
FoldTry try_folds(const machine::Machine& machine, const program::Program& program, Folding folding,
                  const NetworkTables& tables, const auto& use) {
  std::string problem = unknown_to_folds(machine, program);
  if (!problem.empty() && folding == Folding::replicas) refuse(problem);
  const std::vector<const program::AlikeParts*> all = candidates(program, folding);
  if (all.empty() || !problem.empty()) return {false, problem};
  program::Lowerings lowerings(program, machine);
  for (const program::AlikeParts* alike : all) {
    for (const FoldWays ways : {FoldWays::ends_too, FoldWays::shifts}) {
      FoundFold found = find_fold(machine, lowerings, tables, *alike, ways);
      if (!found.fold && ways == FoldWays::ends_too && folding == Folding::replicas) refuse(found.problem);
      const bool by_ends = found.fold && found.fold->goes_by_ends();
      if (found.fold) found.problem = use(*alike, *found.fold);
      if (found.problem.empty()) return {true, {}};
      if (problem.empty()) problem = std::move(found.problem);
      if (!by_ends) break;  // shifts would find the same
    }
  }
  return {false, problem};
}

}  // namespace

FoldFacts fold_facts(const machine::Machine& machine, const program::Program& program,
                     const SimulationOptions& options) {
  FoldFacts facts;
  const Folding folding = folding_of(options);
  if (folding == Folding::none) return facts;
  const auto tell = [&](const program::AlikeParts& alike, const Fold& fold) {
    facts = {alike.name,
             fold.block(),
             std::int64_t{fold.block()} * fold.order(),
             static_cast<std::int64_t>(fold.orders().size()),
             {}};
    return std::string{};
  };
  facts.problem = try_folds(machine, program, folding, NetworkTables(machine.network), tell).problem;
  return facts;
}

FoldTry simulate_folded(const machine::Machine& machine, const program::Program& program,
                        const workload::CostModel& cost, Communicator& comm, const SimulationOptions& options,
                        SimulationResult& result) {
  const NetworkTables tables(machine.network);
  const auto alone = make_serial_communicator();
  SimulationOptions own = options;
  if (comm.rank() > 0) own.progress = nullptr;
  const auto simulate = [&](const program::AlikeParts& alike, const Fold& fold) {
    SimulationResult folded;
    std::string problem = simulate_block({machine, program, cost, own, fold, tables, *alone}, comm, folded);
    if (!problem.empty()) return problem;
    if (folded.statistics.cut_off) {
      result = std::move(folded);
      return problem;
    }
    folded.fold = fmt::format("{} of {} {} simulated for all", fold.block(), fold.block() * fold.order(), alike.name);
    unfold(fold, machine, comm, folded.results);
    result = std::move(folded);
    return problem;
  };
  return try_folds(machine, program, folding_of(options), tables, simulate);
}

}  // namespace tessera::sim
