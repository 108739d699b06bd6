// Who sends to whom in a collective.
#include "tessera/program/collective.hpp"
#include "tessera/program/group_rank.hpp"

namespace tessera::program {

void CollectiveAlgorithm::destinations(const CollectiveCall& call, std::vector<std::uint32_t>& ranks) const {
  Step step;
  for (std::uint32_t index = 0; index < steps(call); ++index) {
    this->step(call, index, step);
    for (const Transfer& transfer : step.sends) ranks.push_back(transfer.peer);
  }
}

void append_destinations(const Program& program, const machine::Machine& machine, DeviceId device, std::uint32_t index,
                         std::vector<DeviceId>& destinations) {
  const Collective& collective = program.collectives[index];
  const auto& slots = program.devices[device].groups;
  if (collective.group_slot >= slots.size() || slots[collective.group_slot] == no_group) return;
  const Group& group = program.groups[slots[collective.group_slot]];
  const auto rank = rank_in(group, device);
  if (!rank) return;
  const CollectiveCall call{&collective, *rank, static_cast<std::uint32_t>(group.members.size()), &group, &machine};
  std::vector<std::uint32_t> ranks;
  collective_algorithms()[collective.algorithm]->destinations(call, ranks);
  for (const std::uint32_t peer : ranks) destinations.push_back(group.members[peer]);
}

}  // namespace tessera::program
