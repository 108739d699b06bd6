// Many candidates of a search at once, over all ranks.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "tessera/base/comm.hpp"
#include "tessera/program/evaluator.hpp"

namespace tessera::program {

/// Candidates 0 .. count-1, each simulated by one of the ranks: on all ranks, in the candidates' order, and the same
/// whatever the number of ranks. `make` writes a candidate's program. All ranks of `comm` take part; what one of them
/// throws all throw.
[[nodiscard]] std::vector<Evaluation> evaluate_all(Evaluator& evaluator, Communicator& comm, std::size_t count,
                                                   const std::function<Program(std::size_t candidate)>& make);

}  // namespace tessera::program
