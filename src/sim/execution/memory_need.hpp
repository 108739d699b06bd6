// How much memory a program needs, and what is said where that is too much.
#pragma once

#include <limits>
#include <string>

#include "tessera/machine/machine.hpp"
#include "tessera/program/program.hpp"

namespace tessera::sim {

inline constexpr std::int64_t beyond_count = std::numeric_limits<std::int64_t>::max();  ///< MemoryPeak::most: more

/// What a device holds at once.
struct Need {
  program::DeviceId device = 0;
  program::MemoryPeak peak;

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& device& peak.total& peak.by_category& peak.most;
  }
};
/// Of the device that needs the most beyond what it has, or leaves the least of it; of the first one of equals.
[[nodiscard]] Need largest_need(const machine::Machine& machine, const program::Program& program);
/// "device gpu 0 needs 34.0 GB but has 32.0 GB (2.00 GB too much): weights 20.0 GB, buffers 14.0 GB"
[[nodiscard]] std::string need_text(const machine::Machine& machine, const program::Program& program, const Need& need);
/// Why it is too much; empty: it is not.
[[nodiscard]] std::string need_problem(const machine::Machine& machine, const program::Program& program,
                                       const Need& need);
inline constexpr const char* allow_hint = "; --allow-oversubscription simulates it anyway";

}  // namespace tessera::sim
