// What a law says of itself. Adding one is a folder here and its line in laws.cpp.
#pragma once

#include <string>
#include <vector>

#include "tessera/sim/execution/program_facts.hpp"
#include "tessera/sim/simulate.hpp"

namespace tessera::sim {

/// What is to be simulated. All outlive it.
struct LawCase {
  const machine::Machine& machine;
  const program::Program& program;
  const ProgramFacts& facts;
  const SimulationOptions& options;
  int ranks = 1;
};

struct LawKind {
  std::string name;
  std::string help;
  bool (*is_allowed)(const SimulationOptions& options) = nullptr;
  /// Why it does not apply, as a user reads it; empty: it does. Physics that a law has not learnt stands here.
  std::string (*refuses)(const LawCase& made) = nullptr;
};

// A folder each:
[[nodiscard]] LawKind trains_law();
[[nodiscard]] LawKind rings_law();
[[nodiscard]] LawKind rounds_law();
[[nodiscard]] LawKind fold_law();
[[nodiscard]] LawKind promises_law();

/// What is asked for, of laws that are allowed.
[[nodiscard]] Folding folding_of(const SimulationOptions& options);
/// Why packets are not served in the order in which they come, which no law knows; empty: they are.
[[nodiscard]] std::string other_arbitration(const machine::Network& network);
/// Why no parts of a program are simulated for others, however alike they are: physics that folds have not learnt;
/// empty: it knows all of it.
[[nodiscard]] std::string unknown_to_folds(const machine::Machine& machine, const program::Program& program);
/// Whether it is allowed, and why it is not used where it is not; empty: it is used.
[[nodiscard]] std::string why_not(const LawKind& law, const LawCase& made);

}  // namespace tessera::sim
