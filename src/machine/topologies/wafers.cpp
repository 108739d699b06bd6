// Wafers side by side, joined edge to edge.
#include "../networks/side_by_side_network.hpp"
#include "meshes.hpp"
#include "topologies.hpp"

namespace tessera::machine {
namespace {

const config::Schema<MeshesSpec>& wafers_schema() {
  static const config::Schema<MeshesSpec> schema = [] {
    config::Schema<MeshesSpec> s("machine.topology.wafers",
                                 "Wafers side by side in x, each die on a facing edge linked to the one beside it. "
                                 "XY routing over all of them: along the row to the right column, then along it.");
    add_meshes(s, "wafers", "wafers", "wafer");
    s.quantity("wafer_bandwidth", &MeshesSpec::outer_bandwidth,
               "of a joint between two wafers, per direction: all of its links together, one for each row")
        .at_least("1 B/s");
    s.quantity("wafer_latency", &MeshesSpec::outer_latency, "of each of these links").at_least("1 ps").at_most("1 s");
    return s;
  }();
  return schema;
}

void build_wafers(const config::Table& table, Machine& machine, config::Diagnostics& diagnostics) {
  const auto spec = read_meshes(wafers_schema(), table, "wafers", diagnostics);
  if (!spec) return;
  machine.device_noun = "die";
  machine.node_noun = "wafer";
  build_joined({spec->columns, spec->rows, false, spec->meshes}, {spec->bandwidth, spec->latency},
               {divided(spec->outer_bandwidth, spec->rows), spec->outer_latency}, machine);
}

}  // namespace

TopologyKind wafers_topology() {
  return {"wafers", "wafers side by side, joined edge to edge",
          []() -> const config::SchemaBase& { return wafers_schema(); }, build_wafers};
}

}  // namespace tessera::machine
