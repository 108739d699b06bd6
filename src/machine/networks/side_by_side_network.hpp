// Several meshes alike, joined edge to edge or through a switch.
#pragma once

#include <vector>

#include "tessera/machine/machine.hpp"

namespace tessera::machine {

/// Links of one sort: bandwidth of each, per direction.
struct LinkSort {
  BytesPerSecond bandwidth;
  Duration latency;
};

/// Network, places and grid of `grid.count` meshes side by side in x. The links of a device lead east, west, south and
/// north, those that exist, in this order; where one mesh ends and the next one begins they are `joints`.
void build_joined(const Grid& grid, const LinkSort& inside, const LinkSort& joints, Machine& machine);

/// Network, places and grid of `grid.count` meshes. The links of a device lead east, west, south and north in its mesh,
/// then to the one switch, whose links are in order of devices. `to_switch` has the latency from device to device,
/// which is divided between the two hops.
void build_switched(const Grid& grid, const LinkSort& inside, const LinkSort& to_switch, Machine& machine);

/// Dimension order over all meshes as one: along the row to the right column, then along the column.
class JoinedRouter final : public Router {
 public:
  JoinedRouter(const Grid& grid, std::vector<LinkId> first_link) : grid_(grid), first_link_(std::move(first_link)) {}
  [[nodiscard]] LinkId next(NodeId at, NodeId to) const override;

 private:
  Grid grid_;
  std::vector<LinkId> first_link_;
};

/// Dimension order inside a mesh; else to the switch, and from there to the device.
class SwitchedRouter final : public Router {
 public:
  SwitchedRouter(const Grid& grid, std::vector<LinkId> first_link)
      : grid_(grid), first_link_(std::move(first_link)), devices_(grid.device(0, 0, grid.count)) {}
  [[nodiscard]] LinkId next(NodeId at, NodeId to) const override;

 private:
  Grid grid_;
  std::vector<LinkId> first_link_;
  NodeId devices_;
};

}  // namespace tessera::machine
