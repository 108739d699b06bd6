// What is refused before time zero, and what is said of memory.
#pragma once

#include <string>
#include <vector>

#include "sim/execution/memory_need.hpp"
#include "tessera/base/comm.hpp"
#include "tessera/machine/machine.hpp"
#include "tessera/program/program.hpp"
#include "tessera/results/results.hpp"

namespace tessera::sim {

/// Throws InfeasibleError for a program that cannot finish (all that check_program finds) or, unless
/// `allow_oversubscription`, does not fit into memory; InputError for what the simulator cannot represent. Returns
/// warnings.
[[nodiscard]] std::vector<std::string> refuse(const machine::Machine& machine, const program::Program& program,
                                              const workload::CostModel& cost, bool allow_oversubscription);

/// Throws InfeasibleError for a program that cannot finish: all that check_program finds.
void refuse_program(const machine::Machine& machine, const program::Program& program);
/// Warns of the device that has held the most, where that is too much. `own`: of this rank's devices. All ranks call
/// it.
[[nodiscard]] std::vector<std::string> warn_of_held(const machine::Machine& machine, const program::Program& program,
                                                    const results::RunResults& own, Communicator& comm);

/// The part of refuse_unrepresentable() that is about kernels.
void refuse_kernels(const machine::Machine& machine, const program::Program& program);

}  // namespace tessera::sim
