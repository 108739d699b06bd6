#include "grid_network.hpp"

#include <array>

#include "../reading.hpp"
#include "dimension.hpp"
#include "tessera/machine/network_builder.hpp"

namespace tessera::machine {
namespace {

enum Direction { east, west, south, north };

struct Position {
  int x, y;
};

Position position(const Grid& grid, NodeId node) {
  const auto columns = static_cast<NodeId>(grid.columns);
  return {static_cast<int>(node % columns), static_cast<int>(node / columns)};
}

Dimension along_x(const Grid& grid) { return {grid.columns, grid.wrap}; }
Dimension along_y(const Grid& grid) { return {grid.rows, grid.wrap}; }

std::array<bool, 4> directions(const Grid& grid, Position at) {
  return {along_x(grid).has_link(at.x, true), along_x(grid).has_link(at.x, false), along_y(grid).has_link(at.y, true),
          along_y(grid).has_link(at.y, false)};
}

NodeId neighbour(const Grid& grid, Position at, Direction direction) {
  const bool upwards = direction == east || direction == south, along_row = direction == east || direction == west;
  return along_row ? grid.device(along_x(grid).next(at.x, upwards), at.y)
                   : grid.device(at.x, along_y(grid).next(at.y, upwards));
}

struct GridSpec {
  int columns = 0;
  int rows = 0;
  BytesPerSecond bandwidth;
  Duration latency;
};

std::shared_ptr<const config::Schema<GridSpec>> grid_schema(const GridKind& kind) {
  auto schema = std::make_shared<config::Schema<GridSpec>>("machine.topology." + kind.name, kind.help);
  schema->also_accept("kind", '"' + kind.name + '"');
  schema->integer("columns", &GridSpec::columns, kind.noun + "s in x").at_least("1").at_most("65536");
  schema->integer("rows", &GridSpec::rows, kind.noun + "s in y").at_least("1").at_most("65536");
  schema
      ->quantity("bandwidth", &GridSpec::bandwidth,
                 "of one link between two neighbours, per direction (not the sum over the edges)")
      .at_least("1 B/s");
  schema->quantity("latency", &GridSpec::latency, "of each link").at_least("1 ps").at_most("1 s");
  return schema;
}

}  // namespace

LinkId GridRouter::next(NodeId at, NodeId to) const {
  if (at == to) return no_link;
  const Position here = position(grid_, at);
  const Position there = position(grid_, to);
  Direction direction;
  if (here.x != there.x) {
    direction = along_x(grid_).goes_upwards(here.x, there.x) ? east : west;
  } else {
    direction = along_y(grid_).goes_upwards(here.y, there.y) ? south : north;
  }
  const std::array<bool, 4> exists = directions(grid_, here);
  LinkId link = first_link_[at];
  for (int before = 0; before < direction; ++before) link += exists[static_cast<std::size_t>(before)] ? 1 : 0;
  return link;
}

void build_grid(const Grid& grid, BytesPerSecond bandwidth, Duration latency, const std::string& link_class,
                Machine& machine) {
  const auto devices = static_cast<NodeId>(grid.columns) * static_cast<NodeId>(grid.rows);
  NetworkBuilder builder(devices);
  const std::uint16_t type = builder.link_class(link_class);
  for (NodeId device = 0; device < devices; ++device) {
    const Position at = position(grid, device);
    const std::array<bool, 4> exists = directions(grid, at);
    for (const Direction direction : {east, west, south, north}) {
      if (exists[direction]) builder.add_link(device, neighbour(grid, at, direction), bandwidth, latency, type);
    }
    machine.places.push_back({0, at.x, at.y, -1});
  }
  machine.network = builder.finish();
  machine.network.router = std::make_shared<GridRouter>(grid, machine.network.first_link);
  machine.devices_per_node = static_cast<int>(devices);
  machine.grid = grid;
}

TopologyKind grid_topology(const GridKind& kind) {
  const auto schema = grid_schema(kind);
  const auto build = [kind, schema](const config::Table& table, Machine& machine, config::Diagnostics& diagnostics) {
    const auto spec = read_whole(*schema, table, diagnostics);
    if (!spec || !check_device_count(std::int64_t{spec->columns} * spec->rows, "columns x rows", table, diagnostics))
      return;
    machine.device_noun = kind.noun;
    build_grid({spec->columns, spec->rows, kind.wrap}, spec->bandwidth, spec->latency, kind.link_class, machine);
  };
  return {kind.name, kind.help, [schema]() -> const config::SchemaBase& { return *schema; }, build};
}

}  // namespace tessera::machine
