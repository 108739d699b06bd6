#include "side_by_side_network.hpp"

#include <memory>

#include "tessera/machine/network_builder.hpp"

namespace tessera::machine {
namespace {

/// Column and row in a mesh, and which one.
struct Spot {
  int x, y, mesh;
};

Spot spot_of(const Grid& grid, NodeId device) {
  const auto columns = static_cast<NodeId>(grid.columns), rows = static_cast<NodeId>(grid.rows);
  return {static_cast<int>(device % columns), static_cast<int>(device / columns % rows),
          static_cast<int>(device / (columns * rows))};
}

/// Which links a device has, in their order.
struct Sides {
  bool east, west, south, north;
  /// In front of the one that leads on towards (x, y), along the row first.
  [[nodiscard]] LinkId place(int from_x, int to_x, int from_y, int to_y) const {
    if (to_x > from_x) return 0;
    if (to_x < from_x) return east ? 1 : 0;
    return (east ? 1U : 0U) + (west ? 1U : 0U) + (to_y < from_y && south ? 1U : 0U);
  }
  [[nodiscard]] LinkId count() const {
    return (east ? 1U : 0U) + (west ? 1U : 0U) + (south ? 1U : 0U) + (north ? 1U : 0U);
  }
};

Sides sides_of(int x, int y, int columns, int rows) { return {x + 1 < columns, x > 0, y + 1 < rows, y > 0}; }

void set_places(const Grid& grid, bool has_own_link, Machine& machine) {
  const NodeId devices = grid.device(0, 0, grid.count);
  for (NodeId device = 0; device < devices; ++device) {
    const Spot at = spot_of(grid, device);
    machine.places.push_back({at.mesh, at.x, at.y, has_own_link ? static_cast<int>(device) : -1});
  }
  machine.devices_per_node = grid.columns * grid.rows;
  machine.grid = grid;
}

}  // namespace

void build_joined(const Grid& grid, const LinkSort& inside, const LinkSort& joints, Machine& machine) {
  const NodeId devices = grid.device(0, 0, grid.count);
  NetworkBuilder builder(devices);
  const std::uint16_t d2d = builder.link_class("d2d");
  const int columns = grid.columns * grid.count;
  for (NodeId device = 0; device < devices; ++device) {
    const Spot at = spot_of(grid, device);
    const int x = at.mesh * grid.columns + at.x;
    const Sides sides = sides_of(x, at.y, columns, grid.rows);
    const auto link = [&](int to_x, int to_y) {
      const bool is_joint = to_x / grid.columns != at.mesh;
      const LinkSort& sort = is_joint ? joints : inside;
      builder.add_link(device, grid.device(to_x % grid.columns, to_y, to_x / grid.columns), sort.bandwidth,
                       sort.latency, is_joint ? builder.link_class("w2w") : d2d);
    };
    if (sides.east) link(x + 1, at.y);
    if (sides.west) link(x - 1, at.y);
    if (sides.south) link(x, at.y + 1);
    if (sides.north) link(x, at.y - 1);
  }
  set_places(grid, false, machine);
  machine.network = builder.finish();
  machine.network.router = std::make_shared<JoinedRouter>(grid, machine.network.first_link);
}

LinkId JoinedRouter::next(NodeId at, NodeId to) const {
  if (at == to) return no_link;
  const Spot here = spot_of(grid_, at), there = spot_of(grid_, to);
  const int x = here.mesh * grid_.columns + here.x, to_x = there.mesh * grid_.columns + there.x;
  return first_link_[at] + sides_of(x, here.y, grid_.columns * grid_.count, grid_.rows).place(x, to_x, here.y, there.y);
}

void build_switched(const Grid& grid, const LinkSort& inside, const LinkSort& to_switch, Machine& machine) {
  const NodeId devices = grid.device(0, 0, grid.count);
  NetworkBuilder builder(devices);
  const NodeId middle = builder.add_switch("switch");
  const std::uint16_t d2d = builder.link_class("d2d"), port = builder.link_class("switch");
  // The first hop gets the odd picosecond: it is the one that crosses ranks, whose latency is lookahead.
  const Duration behind = to_switch.latency / 2, before = to_switch.latency - behind;
  for (NodeId device = 0; device < devices; ++device) {
    const Spot at = spot_of(grid, device);
    const Sides sides = sides_of(at.x, at.y, grid.columns, grid.rows);
    const auto link = [&](int x, int y) {
      builder.add_link(device, grid.device(x, y, at.mesh), inside.bandwidth, inside.latency, d2d);
    };
    if (sides.east) link(at.x + 1, at.y);
    if (sides.west) link(at.x - 1, at.y);
    if (sides.south) link(at.x, at.y + 1);
    if (sides.north) link(at.x, at.y - 1);
    builder.add_link(device, middle, to_switch.bandwidth, before, port);
    builder.add_link(middle, device, to_switch.bandwidth, behind, port);
  }
  set_places(grid, true, machine);
  machine.network = builder.finish();
  machine.network.router = std::make_shared<SwitchedRouter>(grid, machine.network.first_link);
}

LinkId SwitchedRouter::next(NodeId at, NodeId to) const {
  if (at == to) return no_link;
  if (at >= devices_) return first_link_[at] + to;
  const Spot here = spot_of(grid_, at), there = spot_of(grid_, to);
  const Sides sides = sides_of(here.x, here.y, grid_.columns, grid_.rows);
  return first_link_[at] + (here.mesh == there.mesh ? sides.place(here.x, there.x, here.y, there.y) : sides.count());
}

}  // namespace tessera::machine
