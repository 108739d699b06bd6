// Chips on a torus in three dimensions.
#include "../networks/torus_3d_network.hpp"
#include "../reading.hpp"
#include "topologies.hpp"

namespace tessera::machine {
namespace {

struct Torus3dSpec {
  int columns = 0, rows = 0, planes = 0;
  BytesPerSecond bandwidth, plane_bandwidth;
  Duration latency, plane_latency;
};

const config::Schema<Torus3dSpec>& torus_3d_schema() {
  static const config::Schema<Torus3dSpec> schema = [] {
    config::Schema<Torus3dSpec> s(
        "machine.topology.torus-3d",
        "Chips on a torus in three dimensions: planes of columns x rows, one above the other, "
        "all edges joined. Along x first, then y, then z, each time the shorter way round "
        "(upwards on a tie).");
    s.also_accept("kind", "\"torus-3d\"");
    s.integer("columns", &Torus3dSpec::columns, "chips in x").at_least("1").at_most("65536");
    s.integer("rows", &Torus3dSpec::rows, "chips in y").at_least("1").at_most("65536");
    s.integer("planes", &Torus3dSpec::planes, "chips in z").at_least("1").at_most("65536");
    s.quantity("bandwidth", &Torus3dSpec::bandwidth,
               "of one link between two neighbours, per direction (not the sum over a chip's links)")
        .at_least("1 B/s");
    s.quantity("latency", &Torus3dSpec::latency, "of each link").at_least("1 ps").at_most("1 s");
    s.quantity("plane_bandwidth", &Torus3dSpec::plane_bandwidth,
               "of one link between two planes, per direction; as bandwidth when absent")
        .at_least("1 B/s")
        .optional();
    s.quantity("plane_latency", &Torus3dSpec::plane_latency, "of each link between two planes; as latency when absent")
        .at_least("1 ps")
        .at_most("1 s")
        .optional();
    return s;
  }();
  return schema;
}

void build_from_torus_3d(const config::Table& table, Machine& machine, config::Diagnostics& diagnostics) {
  const auto spec = read_whole(torus_3d_schema(), table, diagnostics);
  if (!spec) return;
  // Two of them do not overflow, all three may.
  const std::int64_t in_plane = std::int64_t{spec->columns} * spec->rows;
  if (!check_device_count(in_plane, "columns x rows", table, diagnostics) ||
      !check_device_count(in_plane * spec->planes, "columns x rows x planes", table, diagnostics))
    return;
  const TorusLinks links{spec->bandwidth, spec->latency};
  TorusLinks between = links;
  if (table.find("plane_bandwidth") != nullptr) between.bandwidth = spec->plane_bandwidth;
  if (table.find("plane_latency") != nullptr) between.latency = spec->plane_latency;
  machine.device_noun = "chip";
  machine.node_noun = "plane";
  build_torus_3d({spec->columns, spec->rows, true, spec->planes, true}, links, between, machine);
}

}  // namespace

TopologyKind torus_3d_topology() {
  return {"torus-3d", "chips on a torus in three dimensions; along x, then y, then z, each time the shorter way round",
          []() -> const config::SchemaBase& { return torus_3d_schema(); }, build_from_torus_3d};
}

}  // namespace tessera::machine
