// A multi-chip module: chiplets on a uni-directional ring.
#include "../networks/ring_network.hpp"
#include "../reading.hpp"
#include "topologies.hpp"

namespace tessera::machine {
namespace {

struct PackageSpec {
  int chiplets = 0;
  BytesPerSecond bandwidth;
  Duration latency;
};

const config::Schema<PackageSpec>& package_schema() {
  static const config::Schema<PackageSpec> schema = [] {
    config::Schema<PackageSpec> s("machine.topology.package",
                                  "Chiplets of one package on a uni-directional ring, each linked to the next.");
    s.also_accept("kind", "\"package\"");
    s.integer("chiplets", &PackageSpec::chiplets, "number of chiplets")
        .at_least("1")
        .at_most(std::to_string(most_devices));
    s.quantity("bandwidth", &PackageSpec::bandwidth, "of each link").at_least("1 B/s");
    s.quantity("latency", &PackageSpec::latency, "of each link").at_least("1 ps").at_most("1 s");
    return s;
  }();
  return schema;
}

void build_from_package(const config::Table& table, Machine& machine, config::Diagnostics& diagnostics) {
  const auto spec = read_whole(package_schema(), table, diagnostics);
  if (!spec) return;
  machine.device_noun = "chiplet";
  build_ring(static_cast<NodeId>(spec->chiplets), {spec->bandwidth, spec->latency, false}, "d2d", machine);
}

}  // namespace

TopologyKind package_topology() {
  return {"package", "chiplets on a uni-directional ring",
          []() -> const config::SchemaBase& { return package_schema(); }, build_from_package};
}

}  // namespace tessera::machine
