#include "pricing.hpp"

#include <algorithm>
#include <numeric>

namespace tessera::strategy::watos {

Time Pricing::collective(const program::Collective& collective, const program::search::GroupPattern& groups) {
  const auto key = std::pair(collective.kind, collective.algorithm.index);
  auto found = known_.find(key);
  if (found == known_.end()) {
    std::vector<int> order(job_->machine.devices());
    std::iota(order.begin(), order.end(), 0);
    const auto write = [alone = collective](program::BlockBuilder& builder, std::int64_t bytes) mutable {
      alone.group_slot = 0;
      alone.bytes = Bytes{bytes};
      alone.element = Bytes{2};  // of whatever they are: sizes are large
      builder.collective(alone);
    };
    found = known_.try_emplace(key, job_->evaluations, empty_program(*job_), std::move(order), write).first;
  }
  return found->second.time(groups, collective.bytes.value());
}

/// Of a group inside a place that one alone: others do as much. Of one that reaches over places those of all dies that
/// have the same number in their places, which share links.
program::search::GroupPattern Pricing::groups_of(const GroupWork& work, const std::vector<const Place*>& replicas) {
  const auto size = static_cast<std::uint32_t>(replicas.front()->devices.size());
  const auto device = [&](std::uint32_t rank) { return replicas[rank / size]->devices[rank % size]; };
  const bool is_inside = std::ranges::all_of(work.ranks, [&](std::uint32_t rank) { return rank < size; });
  program::search::GroupPattern groups;
  for (std::uint32_t shift = 0; shift < (is_inside ? 1 : size); ++shift) {
    std::vector<int> members;
    for (const std::uint32_t rank : work.ranks) {
      const std::uint32_t in_place = (rank % size + shift) % size;
      members.push_back(static_cast<int>(device(rank / size * size + in_place)));
    }
    const auto is_member_of = [&](const auto& group) { return std::ranges::find(group, members[0]) != group.end(); };
    if (!std::ranges::any_of(groups, is_member_of)) groups.push_back(std::move(members));
  }
  return groups;
}

Time Pricing::time(const Work& work, const std::vector<const Place*>& replicas) {
  double speed = 1;  // of the first replica: others stand beside it for groups that all of them are in
  for (const machine::NodeId device : replicas.front()->devices) speed = std::min(speed, health_->dies[device]);
  Time time = machine::slowed(work.operators, speed);
  for (const GroupWork& one : work.collectives) {
    if (one.ranks.size() < 2) continue;
    time +=
        std::max<Time>(0, collective(one.collective, groups_of(one, replicas)) - machine::slowed(one.beside, speed));
  }
  return time;
}

}  // namespace tessera::strategy::watos
