// What a device is known not to send for a while lets other ranks run on (distances.hpp, foresight.hpp).
#include "sim/laws/law.hpp"

namespace tessera::sim {

LawKind promises_law() {
  return {"promises", "on several ranks: what devices are known not to send for a while lets other ranks run on",
          [](const SimulationOptions& options) { return options.laws.has(Law::promises); },
          [](const LawCase& made) {
            if (made.program.memory_packet > 0) return std::string("operators and messages share the memory");
            return std::string(made.ranks > 1 ? "" : "one rank");
          }};
}

}  // namespace tessera::sim
