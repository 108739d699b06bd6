#include "pricing.hpp"

#include <algorithm>

#include "tessera/program/search/group_costs.hpp"

namespace tessera::strategy::watos {

Time Pricing::collective(const program::Collective& collective, Groups groups) {
  Key key{collective.kind, collective.bytes.value(), collective.element.value(), collective.algorithm.index, groups};
  const auto found = known_.find(key);
  if (found != known_.end()) return found->second;
  program::Program program = empty_program(*job_);
  program::Collective alone = collective;
  alone.group_slot = 0;
  program::BlockBuilder builder(program, "alone");
  builder.collective(alone);
  const program::BlockId block = builder.done();
  for (std::vector<machine::NodeId>& group : groups) program::search::add_group(program, std::move(group), block);
  const Time time = program::search::measured(job_->evaluations, program);
  known_.emplace(std::move(key), time);
  return time;
}

/// Of a group inside a place that one alone: others do as much. Of one that reaches over places those of all dies that
/// have the same number in their places, which share links.
Pricing::Groups Pricing::groups_of(const GroupWork& work, const std::vector<const Place*>& replicas) const {
  const auto size = static_cast<std::uint32_t>(replicas.front()->devices.size());
  const auto device = [&](std::uint32_t rank) { return replicas[rank / size]->devices[rank % size]; };
  const bool is_inside = std::ranges::all_of(work.ranks, [&](std::uint32_t rank) { return rank < size; });
  Groups groups;
  for (std::uint32_t shift = 0; shift < (is_inside ? 1 : size); ++shift) {
    std::vector<machine::NodeId> members;
    for (const std::uint32_t rank : work.ranks) {
      const std::uint32_t in_place = (rank % size + shift) % size;
      members.push_back(device(rank / size * size + in_place));
    }
    const auto is_member_of = [&](const auto& group) { return std::ranges::find(group, members[0]) != group.end(); };
    if (!std::ranges::any_of(groups, is_member_of)) groups.push_back(std::move(members));
  }
  return groups;
}

Time Pricing::time(const Work& work, const std::vector<const Place*>& replicas) {
  double speed = 1;
  for (const Place* place : replicas)
    for (const machine::NodeId device : place->devices) speed = std::min(speed, health_->dies[device]);
  Time time = machine::slowed(work.operators, speed);
  for (const GroupWork& one : work.collectives) {
    if (one.ranks.size() < 2) continue;
    time += std::max<Time>(0, collective(one.collective, groups_of(one, replicas)) - machine::slowed(one.beside, speed));
  }
  return time;
}

}  // namespace tessera::strategy::watos
