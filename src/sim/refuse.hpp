// What is refused before time zero, and what is said of memory.
#pragma once

#include <string>
#include <vector>

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

/// What a device holds at once.
struct Need {
  program::DeviceId device = 0;
  program::MemoryPeak peak;

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& device& peak.total& peak.by_category& peak.most;
  }
};
/// Of the device that needs the most; of the first one of equals.
[[nodiscard]] Need largest_need(const program::Program& program);
/// Throws InfeasibleError for a program that cannot finish: all that check_program finds.
void refuse_program(const machine::Machine& machine, const program::Program& program);
/// "device gpu 0 needs 34.0 GB but has 32.0 GB (2.00 GB too much): weights 20.0 GB, buffers 14.0 GB"
[[nodiscard]] std::string need_text(const machine::Machine& machine, const program::Program& program, const Need& need);
/// Why it is too much; empty: it is not.
[[nodiscard]] std::string need_problem(const machine::Machine& machine, const program::Program& program,
                                       const Need& need);
inline constexpr const char* allow_hint = "; --allow-oversubscription simulates it anyway";

/// Warns of the device that has held the most, where that is too much. `own`: of this rank's devices. All ranks call
/// it.
[[nodiscard]] std::vector<std::string> warn_of_held(const machine::Machine& machine, const program::Program& program,
                                                    const results::RunResults& own, Communicator& comm);

/// The part of refuse_unrepresentable() that is about kernels.
void refuse_kernels(const machine::Machine& machine, const program::Program& program);

}  // namespace tessera::sim
