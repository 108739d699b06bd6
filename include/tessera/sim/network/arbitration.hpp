// Which of the packets that wait at a link is sent next. Policies by name ([machine.topology] arbitration): adding one
// is one file src/sim/network/arbitration_*.cpp, its line here and its line in arbitration.cpp. None but fifo is known
// to the laws (docs/laws.md): with any other one every packet is simulated by itself.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "tessera/machine/machine.hpp"

namespace tessera::sim {

struct QueuedPacket;

/// Chooses by what it is handed alone: what it has to remember the port keeps.
class PortArbitration {
 public:
  virtual ~PortArbitration() = default;
  /// The place of a packet in `waiting`, which stand in the order in which they came (PortTurn); there is one at least.
  /// `latest`: the input that was served last, by the link that it comes over, which is the port's own for what its
  /// device sends; machine::no_link at first.
  [[nodiscard]] virtual std::size_t choose(const std::deque<QueuedPacket>& waiting, machine::LinkId latest) const = 0;
};

struct PortArbitrationKind {
  std::string name;
  std::string help;
  std::shared_ptr<const PortArbitration> policy;
};
[[nodiscard]] const std::vector<PortArbitrationKind>& port_arbitration_kinds();

// The policies, a file each.
[[nodiscard]] std::shared_ptr<const PortArbitration> fifo_arbitration();
[[nodiscard]] std::shared_ptr<const PortArbitration> round_robin_arbitration();

}  // namespace tessera::sim
