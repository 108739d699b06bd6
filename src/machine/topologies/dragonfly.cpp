// Devices on a dragonfly.
#include <fmt/format.h>

#include "../networks/dragonfly_network.hpp"
#include "../reading.hpp"
#include "topologies.hpp"

namespace tessera::machine {
namespace {

struct DragonflySpec {
  int groups = 0, routers_per_group = 0, devices_per_router = 0, global_links = 0;
  BytesPerSecond device_bandwidth, local_bandwidth, global_bandwidth;
  Duration device_latency, local_latency, global_latency;
};

void declare_links(config::Schema<DragonflySpec>& s) {
  const auto bandwidth = [&s](const char* key, BytesPerSecond DragonflySpec::*member, const char* help) {
    s.quantity(key, member, help).at_least("1 B/s");
  };
  const auto latency = [&s](const char* key, Duration DragonflySpec::*member, const char* help) {
    s.quantity(key, member, help).at_least("1 ps").at_most("1 s");
  };
  bandwidth("device_bandwidth", &DragonflySpec::device_bandwidth, "between a device and its router, per direction");
  latency("device_latency", &DragonflySpec::device_latency,
          "from device to device through one router, half of it in front of the router");
  bandwidth("local_bandwidth", &DragonflySpec::local_bandwidth,
            "of the link between two routers of a group, per direction");
  latency("local_latency", &DragonflySpec::local_latency, "of each of these links");
  bandwidth("global_bandwidth", &DragonflySpec::global_bandwidth, "of one link between two groups, per direction");
  latency("global_latency", &DragonflySpec::global_latency, "of each of these links");
}

const config::Schema<DragonflySpec>& dragonfly_schema() {
  static const config::Schema<DragonflySpec> schema = [] {
    config::Schema<DragonflySpec> s(
        "machine.topology.dragonfly",
        "Groups of routers with devices: all routers of a group are linked, and all groups (Kim et al., ISCA 2008). "
        "Minimal routing: to the router with a link to the other group, over it, to the device's router.");
    s.also_accept("kind", "\"dragonfly\"");
    const std::string most = std::to_string(most_devices);
    s.integer("groups", &DragonflySpec::groups, "groups of routers").at_least("1").at_most("65536");
    s.integer("routers_per_group", &DragonflySpec::routers_per_group, "routers in a group")
        .at_least("1")
        .at_most("4096");
    s.integer("devices_per_router", &DragonflySpec::devices_per_router, "devices on a router")
        .at_least("1")
        .at_most("4096");
    s.integer("global_links", &DragonflySpec::global_links,
              "links of a router to other groups; those of a group are dealt out evenly to all others, the rest stay "
              "unused")
        .at_least("1")
        .at_most("4096")
        .otherwise("1");
    declare_links(s);
    return s;
  }();
  return schema;
}

/// Whether a group reaches all others; reports where it does not.
bool check_ports(const DragonflySpec& spec, const config::Table& table, config::Diagnostics& diagnostics) {
  const std::int64_t ports = std::int64_t{spec.routers_per_group} * spec.global_links;
  if (spec.groups - 1 <= ports) return true;
  diagnostics.error(
      table.find("groups")->where(),
      fmt::format("\"groups\": {}, allowed: 1 to {}, since the {} global links of a group (routers_per_group "
                  "x global_links) lead to as many others",
                  spec.groups, ports + 1, ports));
  return false;
}

void build_from_dragonfly(const config::Table& table, Machine& machine, config::Diagnostics& diagnostics) {
  const auto spec = read_whole(dragonfly_schema(), table, diagnostics);
  if (!spec || !check_ports(*spec, table, diagnostics)) return;
  const std::int64_t routers = std::int64_t{spec->groups} * spec->routers_per_group;
  if (!check_device_count(routers, "groups x routers_per_group", table, diagnostics) ||
      !check_device_count(routers * spec->devices_per_router, "groups x routers_per_group x devices_per_router", table,
                          diagnostics))
    return;
  DragonflyShape shape;
  shape.groups = static_cast<NodeId>(spec->groups);
  shape.routers_per_group = static_cast<NodeId>(spec->routers_per_group);
  shape.devices_per_router = static_cast<NodeId>(spec->devices_per_router);
  shape.global_links = static_cast<NodeId>(spec->global_links);
  shape.device_bandwidth = spec->device_bandwidth;
  shape.local_bandwidth = spec->local_bandwidth;
  shape.global_bandwidth = spec->global_bandwidth;
  shape.device_latency = spec->device_latency;
  shape.local_latency = spec->local_latency;
  shape.global_latency = spec->global_latency;
  build_dragonfly(shape, machine);
}

}  // namespace

TopologyKind dragonfly_topology() {
  return {"dragonfly", "devices on routers in groups, all groups linked; minimal routing",
          []() -> const config::SchemaBase& { return dragonfly_schema(); }, build_from_dragonfly};
}

}  // namespace tessera::machine
