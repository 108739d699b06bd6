// What sums over the replicas take where they cross what joins the grids of a machine: wafers side by side, meshes
// round a switch.
#pragma once

#include <unordered_map>
#include <vector>

#include "problem.hpp"
#include "tessera/machine/routes.hpp"

namespace tessera::strategy::watos {

/// The links that join the grids of a machine, which outlives it. Not for two threads at once.
class Joints {
 public:
  explicit Joints(const machine::Machine& machine) : machine_(&machine), routes_(machine.network) {}

  /// Links of the planes of a torus in three dimensions are as fast as those in them: they join nothing.
  [[nodiscard]] bool any() const { return machine_->grid.count > 1 && !machine_->grid.stacked; }
  [[nodiscard]] bool is_joint(machine::LinkId link) const;
  /// Those on the way from one die to another; none where both are on one grid.
  [[nodiscard]] const std::vector<machine::LinkId>& between(machine::NodeId from, machine::NodeId to) const;

 private:
  [[nodiscard]] bool has_grid(machine::NodeId node, int grid) const;

  const machine::Machine* machine_;
  machine::Routes routes_;
  mutable std::unordered_map<std::uint64_t, std::vector<machine::LinkId>> known_;
};

/// The greatest number of rings over the replicas on a link of a joint, each member sending to the next one, where
/// replicas of one stage stand at these places.
[[nodiscard]] int most_over_joints(const Joints& joints, const std::vector<const Place*>& replicas);

/// ps of the sums over the replicas, all stages at once where they stand: as many times what one stage takes over a
/// joint as its busiest link carries more of their rings, or what they take on one grid, whichever is longer.
[[nodiscard]] Time sums_of(const Problem& problem, const Solution& solution);

}  // namespace tessera::strategy::watos
