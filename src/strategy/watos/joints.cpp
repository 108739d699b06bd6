#include "joints.hpp"

namespace tessera::strategy::watos {

bool Joints::on_one_grid(machine::NodeId one, machine::NodeId other) const {
  return machine_->computes(one) && machine_->computes(other) &&
         machine_->places[one].node == machine_->places[other].node;
}

bool Joints::is_joint(machine::LinkId link) const {
  const machine::Link& it = machine_->network.links[link];
  return any() && !on_one_grid(it.from, it.to);
}

const std::vector<machine::LinkId>& Joints::between(machine::NodeId from, machine::NodeId to) const {
  if (on_one_grid(from, to)) return none_;
  const auto [found, added] = known_.try_emplace((std::uint64_t{from} << 32U) + to);
  if (added)
    routes_.for_each_link({from, to}, [&](machine::LinkId link) {
      if (is_joint(link)) found->second.push_back(link);
    });
  return found->second;
}

std::vector<machine::LinkId> Joints::inside(machine::NodeId from, machine::NodeId to) const {
  std::vector<machine::LinkId> links = routes_.links(from, to);
  std::erase_if(links, [&](machine::LinkId link) { return is_joint(link); });
  return links;
}

std::vector<const Place*> replicas_of(const Problem& problem, const std::vector<std::uint16_t>& places,
                                      std::size_t stage) {
  std::vector<const Place*> found;
  for (std::uint32_t replica = 0; replica < problem.replicas; ++replica)
    found.push_back(&problem.places[places[stage * problem.replicas + replica]]);
  return found;
}

Time sums_of(const Problem& problem, const Solution& solution) {
  const JointSums& over = problem.over_joints;
  if (over.joints == nullptr) return problem.shared;
  RingLoads loads;
  for (std::size_t stage = 0; stage < problem.count(); ++stage)
    loads.add_joints(replicas_of(problem, solution.places, stage), *over.joints);
  return std::max(problem.shared, saturating_times(loads.most(), over.measured) / over.rings);
}

}  // namespace tessera::strategy::watos
