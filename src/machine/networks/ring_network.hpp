// Rings of devices, without switches: one way round or both.
#pragma once

#include <string>

#include "tessera/machine/machine.hpp"

namespace tessera::machine {

struct RingLinks {
  BytesPerSecond bandwidth;  ///< of each direction
  Duration latency;
  bool both_ways = true;
};

/// The network and the places of `devices` devices on a ring. Each has a link to the next one and, both ways and with
/// more than two devices, then one to the one before; two devices have one link each, a single one none.
void build_ring(NodeId devices, const RingLinks& links, const std::string& link_class, Machine& machine);

/// Ring routing by arithmetic: the shorter way round, upwards when both are equally long.
class RingRouter final : public Router {
 public:
  RingRouter(NodeId devices, bool both_ways) : devices_(devices), both_ways_(both_ways && devices > 2) {}
  [[nodiscard]] LinkId next(NodeId at, NodeId to) const override;

 private:
  NodeId devices_;
  bool both_ways_;
};

}  // namespace tessera::machine
