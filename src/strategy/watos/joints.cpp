#include "joints.hpp"

#include <algorithm>

namespace tessera::strategy::watos {
namespace {

class Loads {
 public:
  explicit Loads(const Joints& joints) : joints_(&joints) {}

  void add(const Place& from, const Place& to) {
    if (from.grid == to.grid) return;
    for (std::size_t rank = 0; rank < from.devices.size(); ++rank)
      for (const machine::LinkId link : joints_->between(from.devices[rank], to.devices[rank]))
        most_ = std::max(most_, ++rings_[link]);
  }
  [[nodiscard]] int most() const { return most_; }

 private:
  const Joints* joints_;
  std::unordered_map<machine::LinkId, int> rings_;
  int most_ = 0;
};

}  // namespace

bool Joints::has_grid(machine::NodeId node, int grid) const {
  return machine_->computes(node) && machine_->places[node].node == grid;
}

bool Joints::is_joint(machine::LinkId link) const {
  if (!any()) return false;
  const auto& [from, to] = std::pair(machine_->network.links[link].from, machine_->network.links[link].to);
  return !machine_->computes(from) || !has_grid(to, machine_->places[from].node);
}

const std::vector<machine::LinkId>& Joints::between(machine::NodeId from, machine::NodeId to) const {
  const auto [found, added] = known_.try_emplace((std::uint64_t{from} << 32U) + to);
  if (added)
    routes_.for_each_link({from, to}, [&](machine::LinkId link) {
      if (is_joint(link)) found->second.push_back(link);
    });
  return found->second;
}

int most_over_joints(const Joints& joints, const std::vector<const Place*>& replicas) {
  Loads loads(joints);
  for (std::size_t i = 0; i < replicas.size(); ++i) loads.add(*replicas[i], *replicas[(i + 1) % replicas.size()]);
  return loads.most();
}

Time sums_of(const Problem& problem, const Solution& solution) {
  const JointSums& over = problem.over_joints;
  if (over.joints == nullptr) return problem.shared;
  Loads loads(*over.joints);
  for (std::size_t stage = 0; stage < problem.count(); ++stage)
    for (std::uint32_t replica = 0; replica < problem.replicas; ++replica)
      loads.add(problem.places[solution.place(problem, stage, replica)],
                problem.places[solution.place(problem, stage, (replica + 1) % problem.replicas)]);
  return std::max(problem.shared, over.measured * loads.most() / over.rings);
}

}  // namespace tessera::strategy::watos
