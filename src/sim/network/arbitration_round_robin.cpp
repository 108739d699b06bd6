// Each input has its turn: links that lead to the node in the order of their numbers, and the device's own messages,
// which stand where the link itself does.
#include "sim/network/packet_port.hpp"

namespace tessera::sim {
namespace {

class RoundRobin final : public PortArbitration {
 public:
  [[nodiscard]] std::size_t choose(const std::deque<QueuedPacket>& waiting, machine::LinkId latest) const override {
    // How far behind the latest one an input stands, going round; the latest one itself is the farthest.
    const auto distance = [latest](const QueuedPacket& packet) { return packet.turn.link - latest - 1; };
    std::size_t next = 0;
    for (std::size_t i = 1; i < waiting.size(); ++i)
      if (distance(waiting[i]) < distance(waiting[next])) next = i;
    return next;
  }
};

}  // namespace

std::shared_ptr<const PortArbitration> round_robin_arbitration() { return std::make_shared<RoundRobin>(); }

}  // namespace tessera::sim
