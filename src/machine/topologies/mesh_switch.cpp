// Small meshes around one switch.
#include "../networks/side_by_side_network.hpp"
#include "../reading.hpp"
#include "meshes.hpp"
#include "topologies.hpp"

namespace tessera::machine {
namespace {

struct MeshSwitchSpec {
  int meshes = 0, columns = 0, rows = 0;
  BytesPerSecond bandwidth, switch_bandwidth;
  Duration latency, switch_latency;
};

const config::Schema<MeshSwitchSpec>& mesh_switch_schema() {
  static const config::Schema<MeshSwitchSpec> schema = [] {
    config::Schema<MeshSwitchSpec> s("machine.topology.mesh-switch",
                                     "Meshes of dies, each die linked to one non-blocking switch as well. XY routing "
                                     "inside a mesh, over the switch between meshes.");
    s.also_accept("kind", "\"mesh-switch\"");
    s.integer("meshes", &MeshSwitchSpec::meshes, "number of meshes").at_least("1").at_most("65536");
    s.integer("columns", &MeshSwitchSpec::columns, "dies of a mesh in x").at_least("1").at_most("65536");
    s.integer("rows", &MeshSwitchSpec::rows, "dies of a mesh in y").at_least("1").at_most("65536");
    s.quantity("bandwidth", &MeshSwitchSpec::bandwidth, "of one link between two dies of a mesh, per direction")
        .at_least("1 B/s");
    s.quantity("latency", &MeshSwitchSpec::latency, "of each of these links").at_least("1 ps").at_most("1 s");
    s.quantity("switch_bandwidth", &MeshSwitchSpec::switch_bandwidth,
               "between a mesh and the switch, per direction: all of its links together, one for each die")
        .at_least("1 B/s");
    s.quantity("switch_latency", &MeshSwitchSpec::switch_latency,
               "from die to die over the switch, half of it in front of the switch and half behind")
        .at_least("1 ps")
        .at_most("1 s");
    return s;
  }();
  return schema;
}

void build_mesh_switch(const config::Table& table, Machine& machine, config::Diagnostics& diagnostics) {
  const auto alike = with_one_size(table, "meshes", diagnostics);
  if (alike == nullptr) return;
  const auto spec = read_whole(mesh_switch_schema(), *alike, diagnostics);
  const std::int64_t dies = spec ? std::int64_t{spec->columns} * spec->rows : 0;
  if (!spec || !check_device_count(saturating_times(spec->meshes, dies), "meshes x columns x rows", table, diagnostics))
    return;
  machine.device_noun = "die";
  machine.node_noun = "mesh";
  build_switched({spec->columns, spec->rows, false, spec->meshes}, {spec->bandwidth, spec->latency},
                 {divided(spec->switch_bandwidth, dies), spec->switch_latency}, machine);
}

}  // namespace

TopologyKind mesh_switch_topology() {
  return {"mesh-switch", "meshes of dies around one switch",
          []() -> const config::SchemaBase& { return mesh_switch_schema(); }, build_mesh_switch};
}

}  // namespace tessera::machine
