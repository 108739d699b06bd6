#include "torus_3d_network.hpp"

#include <array>
#include <memory>

#include "dimension.hpp"
#include "tessera/machine/network_builder.hpp"

namespace tessera::machine {
namespace {

/// Column, row and plane.
using Spot3d = std::array<int, 3>;

std::array<Dimension, 3> dimensions(const Grid& grid) {
  return {Dimension{grid.columns, true}, Dimension{grid.rows, true}, Dimension{grid.count, true}};
}

Spot3d spot_3d(const Grid& grid, NodeId device) {
  const auto columns = static_cast<NodeId>(grid.columns), rows = static_cast<NodeId>(grid.rows);
  return {static_cast<int>(device % columns), static_cast<int>(device / columns % rows),
          static_cast<int>(device / (columns * rows))};
}

NodeId neighbour_3d(const Grid& grid, Spot3d at, std::size_t dimension, bool upwards) {
  at[dimension] = dimensions(grid)[dimension].next(at[dimension], upwards);
  return grid.device(at[0], at[1], at[2]);
}

}  // namespace

void build_torus_3d(const Grid& grid, const TorusLinks& in_plane, const TorusLinks& between_planes, Machine& machine) {
  const NodeId devices = grid.device(0, 0, grid.count);
  NetworkBuilder builder(devices);
  const std::uint16_t type = builder.link_class("ici");
  for (NodeId device = 0; device < devices; ++device) {
    const Spot3d at = spot_3d(grid, device);
    for (std::size_t dimension = 0; dimension < 3; ++dimension) {
      const TorusLinks& links = dimension == 2 ? between_planes : in_plane;
      for (const bool upwards : {true, false}) {
        if (dimensions(grid)[dimension].has_link(at[dimension], upwards))
          builder.add_link(device, neighbour_3d(grid, at, dimension, upwards), links.bandwidth, links.latency, type);
      }
    }
    machine.places.push_back({at[2], at[0], at[1], -1});
  }
  machine.network = builder.finish();
  machine.network.router = std::make_shared<Torus3dRouter>(grid, machine.network.first_link);
  machine.devices_per_node = grid.columns * grid.rows;
  machine.grid = grid;
}

LinkId Torus3dRouter::next(NodeId at, NodeId to) const {
  if (at == to) return no_link;
  const Spot3d here = spot_3d(grid_, at), there = spot_3d(grid_, to);
  LinkId link = first_link_[at];
  for (std::size_t dimension = 0; dimension < 3; ++dimension) {
    const Dimension along = dimensions(grid_)[dimension];
    const int i = here[dimension];
    const bool has_up = along.has_link(i, true), has_down = along.has_link(i, false);
    if (i != there[dimension]) return link + (!along.goes_upwards(i, there[dimension]) && has_up ? 1 : 0);
    link += (has_up ? 1U : 0U) + (has_down ? 1U : 0U);
  }
  return no_link;
}

}  // namespace tessera::machine
