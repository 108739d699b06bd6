// What joins the grids of a machine, wafers side by side, meshes round a switch or planes of a torus, and what sums
// over the replicas take there.
#pragma once

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "problem.hpp"
#include "tessera/machine/routes.hpp"

namespace tessera::strategy::watos {

/// The links that join the grids of a machine, which outlives it. Not for two threads at once.
class Joints {
 public:
  explicit Joints(const machine::Machine& machine) : machine_(&machine), routes_(machine.network) {}

  [[nodiscard]] bool any() const { return machine_->grid.count > 1; }
  [[nodiscard]] bool is_joint(machine::LinkId link) const;
  /// Those on the way from one die to another; none where both are on one grid.
  [[nodiscard]] const std::vector<machine::LinkId>& between(machine::NodeId from, machine::NodeId to) const;
  /// The others on that way.
  [[nodiscard]] std::vector<machine::LinkId> inside(machine::NodeId from, machine::NodeId to) const;

 private:
  [[nodiscard]] bool on_one_grid(machine::NodeId one, machine::NodeId other) const;

  const machine::Machine* machine_;
  machine::Routes routes_;
  std::vector<machine::LinkId> none_;
  mutable std::unordered_map<std::uint64_t, std::vector<machine::LinkId>> known_;  // by sender and receiver
};

/// Where the replicas of a stage stand.
[[nodiscard]] std::vector<const Place*> replicas_of(const Problem& problem, const std::vector<std::uint16_t>& places,
                                                    std::size_t stage);

/// How many rings over replicas go over each link: a member sends to the next one, the last one to the first.
class RingLoads {
 public:
  /// One ring a die of a place. `links_of(from, to)`: those that count of the way from a die to another one.
  template <class LinksOf>
  void add(const std::vector<const Place*>& replicas, const LinksOf& links_of) {
    for (std::size_t i = 0; i < replicas.size(); ++i) {
      const Place &from = *replicas[i], &to = *replicas[(i + 1) % replicas.size()];
      for (std::size_t rank = 0; rank < from.devices.size(); ++rank)
        for (const machine::LinkId link : links_of(from.devices[rank], to.devices[rank]))
          most_ = std::max(most_, ++rings_[link]);
    }
  }
  void add_joints(const std::vector<const Place*>& replicas, const Joints& joints) {
    add(
        replicas, [&](machine::NodeId from, machine::NodeId to) -> const auto& { return joints.between(from, to); });
  }
  /// On the busiest link.
  [[nodiscard]] int most() const { return most_; }

 private:
  std::unordered_map<machine::LinkId, int> rings_;
  int most_ = 0;
};

/// ps of the sums over the replicas, all stages at once where they stand: what one stage takes over a joint, times the
/// rings of all stages on the busiest link of a joint over that stage's; at least what they take on one grid.
[[nodiscard]] Time sums_of(const Problem& problem, const Solution& solution);

}  // namespace tessera::strategy::watos
