// A torus in three dimensions, without switches: planes that are tori, one above the other, the last joined to the
// first.
#pragma once

#include <string>
#include <vector>

#include "tessera/machine/machine.hpp"

namespace tessera::machine {

/// Speed and delay of links, per direction.
struct TorusLinks {
  BytesPerSecond bandwidth;
  Duration latency;
};

/// Network, places and grid of grid.count planes of columns x rows. Links of a device lead to x + 1, x - 1, y + 1, y -
/// 1, z + 1 and z - 1, those that exist, in this order; round a dimension of two there is one link, not two.
void build_torus_3d(const Grid& grid, const TorusLinks& in_plane, const TorusLinks& between_planes, Machine& machine);

/// Dimension order: along x to the right column, along y to the right row, then along z, each time the shorter way
/// round, upwards where both are equally long.
class Torus3dRouter final : public Router {
 public:
  Torus3dRouter(const Grid& grid, std::vector<LinkId> first_link) : grid_(grid), first_link_(std::move(first_link)) {}
  [[nodiscard]] LinkId next(NodeId at, NodeId to) const override;

 private:
  Grid grid_;
  std::vector<LinkId> first_link_;
};

}  // namespace tessera::machine
