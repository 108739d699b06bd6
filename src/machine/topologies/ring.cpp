// GPUs on a ring.
#include "../networks/ring_network.hpp"
#include "../reading.hpp"
#include "topologies.hpp"

namespace tessera::machine {
namespace {

struct RingSpec {
  int devices = 0;
  BytesPerSecond bandwidth;
  Duration latency;
  std::string direction;
};

const config::Schema<RingSpec>& ring_schema() {
  static const config::Schema<RingSpec> schema = [] {
    config::Schema<RingSpec> s("machine.topology.ring",
                               "GPUs on a ring, each linked to the next and to the one before.");
    s.also_accept("kind", "\"ring\"");
    s.integer("devices", &RingSpec::devices, "number of GPUs").at_least("1").at_most(std::to_string(most_devices));
    s.quantity("bandwidth", &RingSpec::bandwidth, "of each link, per direction").at_least("1 B/s");
    s.quantity("latency", &RingSpec::latency, "of each link").at_least("1 ps").at_most("1 s");
    s.choice("direction", &RingSpec::direction, {"both", "up"},
             "links both ways round (the shorter way is taken, upwards on a tie), or to the next higher GPU only")
        .otherwise("both");
    return s;
  }();
  return schema;
}

void build_from_ring(const config::Table& table, Machine& machine, config::Diagnostics& diagnostics) {
  const auto spec = read_whole(ring_schema(), table, diagnostics);
  if (!spec) return;
  build_ring(static_cast<NodeId>(spec->devices), {spec->bandwidth, spec->latency, spec->direction == "both"}, "ring",
             machine);
}

}  // namespace

TopologyKind ring_topology() {
  return {"ring", "GPUs on a ring", []() -> const config::SchemaBase& { return ring_schema(); }, build_from_ring};
}

}  // namespace tessera::machine
