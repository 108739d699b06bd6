// What can be said of a program's blocks without running them; computed once per rank, shared by its devices.
#pragma once

#include <cstdint>
#include <vector>

#include "tessera/program/program.hpp"

namespace tessera::sim {

/// Of a block with everything that it calls.
struct BlockFacts {
  bool computes = false;
  bool communicates = false;                 ///< joins collectives
  bool changes_memory = false;               ///< allocates or releases
  bool repeats = false;                      ///< calls a block several times
  bool marks = false;                        ///< says that something is over (program::Op::mark)
  std::uint32_t depth = 1;                   ///< nesting of calls
  std::vector<std::uint32_t> waited_events;  ///< in order, each once
};

class ProgramFacts {
 public:
  /// Expects blocks without recursion (program::check_program).
  explicit ProgramFacts(const program::Program& program);
  [[nodiscard]] const BlockFacts& of(program::BlockId block) const { return facts_[block]; }
  /// Whether operators of more than one stream of a device take turns on it.
  [[nodiscard]] bool shares_compute(const program::DeviceProgram& device) const;
  /// Whether operators of one stream of a device run beside collectives of another that take cores.
  [[nodiscard]] bool shares_cores(const program::DeviceProgram& device) const;
  /// Whether more than one stream of a device waits for an event.
  [[nodiscard]] bool shares_events(const program::DeviceProgram& device) const;
  /// Whether more than one stream of a device allocates or releases.
  [[nodiscard]] bool shares_memory(const program::DeviceProgram& device) const;

 private:
  const BlockFacts& compute(const program::Program& program, program::BlockId block);
  bool takes_cores_;
  std::vector<BlockFacts> facts_;
  std::vector<bool> known_;
};

}  // namespace tessera::sim
