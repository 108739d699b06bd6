// Small meshes around one switch.
#include "../networks/side_by_side_network.hpp"
#include "meshes.hpp"
#include "topologies.hpp"

namespace tessera::machine {
namespace {

const config::Schema<MeshesSpec>& mesh_switch_schema() {
  static const config::Schema<MeshesSpec> schema = [] {
    config::Schema<MeshesSpec> s("machine.topology.mesh-switch",
                                 "Meshes of dies, each die linked to one non-blocking switch as well. XY routing "
                                 "inside a mesh, over the switch between meshes.");
    add_meshes(s, "mesh-switch", "meshes", "mesh");
    s.quantity("switch_bandwidth", &MeshesSpec::outer_bandwidth,
               "between a mesh and the switch, per direction: all of its links together, one for each die")
        .at_least("1 B/s");
    s.quantity("switch_latency", &MeshesSpec::outer_latency,
               "from die to die over the switch, half of it in front of the switch and half behind")
        .at_least("1 ps")
        .at_most("1 s");
    return s;
  }();
  return schema;
}

void build_mesh_switch(const config::Table& table, Machine& machine, config::Diagnostics& diagnostics) {
  const auto spec = read_meshes(mesh_switch_schema(), table, "meshes", diagnostics);
  if (!spec) return;
  machine.device_noun = "die";
  machine.node_noun = "mesh";
  build_switched({spec->columns, spec->rows, false, spec->meshes}, {spec->bandwidth, spec->latency},
                 {divided(spec->outer_bandwidth, spec->dies()), spec->outer_latency}, machine);
}

}  // namespace

TopologyKind mesh_switch_topology() {
  return {"mesh-switch", "meshes of dies around one switch",
          []() -> const config::SchemaBase& { return mesh_switch_schema(); }, build_mesh_switch};
}

}  // namespace tessera::machine
