// Packets that follow each other on a link are served by closed forms (train_port.hpp).
#include <algorithm>

#include "sim/laws/law.hpp"
#include "tessera/base/config.hpp"

namespace tessera::sim {
namespace {

std::string refuses(const LawCase& made) {
  const machine::Network& network = made.machine.network;
  if (std::string other = other_arbitration(network); !other.empty()) return other;
  // A packet that takes less than a picosecond could not be taken back.
  const auto fastest = std::ranges::max_element(network.links, {}, &machine::Link::bandwidth);
  if (fastest == network.links.end() || duration_at_rate(network.packet, fastest->bandwidth) > 1) return {};
  return "a packet takes no longer than a picosecond on the link " +
         made.machine.link_name(static_cast<machine::LinkId>(fastest - network.links.begin()));
}

}  // namespace

LawKind trains_law() {
  return {"trains", "packets that follow each other on a link, by closed forms",
          [](const SimulationOptions& options) { return options.laws.has(Law::trains); }, refuses};
}

}  // namespace tessera::sim
