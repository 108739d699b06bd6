#include "tessera/sim/network/arbitration.hpp"

namespace tessera::sim {
namespace {

class Fifo final : public PortArbitration {
 public:
  [[nodiscard]] std::size_t choose(const std::deque<QueuedPacket>&, machine::LinkId) const override { return 0; }
};

}  // namespace

std::shared_ptr<const PortArbitration> fifo_arbitration() { return std::make_shared<Fifo>(); }

}  // namespace tessera::sim
