// What is refused before time zero.
#pragma once

#include <string>
#include <vector>

#include "tessera/machine/machine.hpp"
#include "tessera/program/program.hpp"

namespace tessera::sim {

/// Throws InfeasibleError for a program that cannot finish (all that check_program finds) or, unless
/// `allow_oversubscription`, does not fit into memory; InputError for what the simulator cannot represent. Returns
/// warnings.
[[nodiscard]] std::vector<std::string> refuse(const machine::Machine& machine, const program::Program& program,
                                              const workload::CostModel& cost, bool allow_oversubscription);

/// The part of refuse_unrepresentable() that is about kernels.
void refuse_kernels(const machine::Machine& machine, const program::Program& program);

}  // namespace tessera::sim
