// Wafers side by side, joined edge to edge.
#include "../networks/side_by_side_network.hpp"
#include "../reading.hpp"
#include "meshes.hpp"
#include "topologies.hpp"

namespace tessera::machine {
namespace {

struct WafersSpec {
  int wafers = 0, columns = 0, rows = 0;
  BytesPerSecond bandwidth, wafer_bandwidth;
  Duration latency, wafer_latency;
};

const config::Schema<WafersSpec>& wafers_schema() {
  static const config::Schema<WafersSpec> schema = [] {
    config::Schema<WafersSpec> s("machine.topology.wafers",
                                 "Wafers side by side in x, each die on a facing edge linked to the one beside it. "
                                 "XY routing over all of them: along the row to the right column, then along it.");
    s.also_accept("kind", "\"wafers\"");
    s.integer("wafers", &WafersSpec::wafers, "number of wafers").at_least("1").at_most("65536");
    s.integer("columns", &WafersSpec::columns, "dies of a wafer in x").at_least("1").at_most("65536");
    s.integer("rows", &WafersSpec::rows, "dies of a wafer in y").at_least("1").at_most("65536");
    s.quantity("bandwidth", &WafersSpec::bandwidth, "of one link between two dies of a wafer, per direction")
        .at_least("1 B/s");
    s.quantity("latency", &WafersSpec::latency, "of each of these links").at_least("1 ps").at_most("1 s");
    s.quantity("wafer_bandwidth", &WafersSpec::wafer_bandwidth,
               "of a joint between two wafers, per direction: all of its links together, one for each row")
        .at_least("1 B/s");
    s.quantity("wafer_latency", &WafersSpec::wafer_latency, "of each of these links").at_least("1 ps").at_most("1 s");
    return s;
  }();
  return schema;
}

void build_wafers(const config::Table& table, Machine& machine, config::Diagnostics& diagnostics) {
  const auto alike = with_one_size(table, "wafers", diagnostics);
  if (alike == nullptr) return;
  const auto spec = read_whole(wafers_schema(), *alike, diagnostics);
  if (!spec || !check_device_count(std::int64_t{spec->wafers} * spec->columns * spec->rows, "wafers x columns x rows",
                                   table, diagnostics))
    return;
  machine.device_noun = "die";
  machine.node_noun = "wafer";
  build_joined({spec->columns, spec->rows, false, spec->wafers}, {spec->bandwidth, spec->latency},
               {divided(spec->wafer_bandwidth, spec->rows), spec->wafer_latency}, machine);
}

}  // namespace

TopologyKind wafers_topology() {
  return {"wafers", "wafers side by side, joined edge to edge",
          []() -> const config::SchemaBase& { return wafers_schema(); }, build_wafers};
}

}  // namespace tessera::machine
