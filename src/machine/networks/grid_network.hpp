// Two-dimensional grids of devices, without switches: mesh, and torus where the edges are joined.
#pragma once

#include <string>
#include <vector>

#include "tessera/machine/topology.hpp"

namespace tessera::machine {

/// Network, places and grid. The links of a device lead east (x + 1), west, south (y + 1) and north, those that exist,
/// in this order; around a torus dimension of two there is one link, not two.
void build_grid(const Grid& grid, BytesPerSecond bandwidth, Duration latency, const std::string& link_class,
                Machine& machine);

/// Dimension order: along the row to the right column, then along the column. On a torus the shorter way round, east
/// and south when both are equally long.
class GridRouter final : public Router {
 public:
  GridRouter(const Grid& grid, std::vector<LinkId> first_link) : grid_(grid), first_link_(std::move(first_link)) {}
  [[nodiscard]] LinkId next(NodeId at, NodeId to) const override;

 private:
  Grid grid_;
  std::vector<LinkId> first_link_;
};

/// What tells one kind of grid from another.
struct GridKind {
  std::string name;  ///< of the topology
  std::string help;
  std::string noun;  ///< of a device
  std::string link_class;
  bool wrap = false;
};
/// The topology of that kind, with its keys columns, rows, bandwidth and latency.
[[nodiscard]] TopologyKind grid_topology(const GridKind& kind);

}  // namespace tessera::machine
