// Who sends to whom in a collective.
#include "tessera/program/collective.hpp"
#include "tessera/program/group_rank.hpp"

namespace tessera::program {

void CollectiveAlgorithm::destinations(const CollectiveCall& call, std::vector<std::uint32_t>& ranks) const {
  const auto add = [&](const CollectiveCall&, const Step& step) {
    for (const Transfer& transfer : step.sends) ranks.push_back(transfer.peer);
  };
  for_all_steps(*this, call, add);
}

void append_destinations(Lowerings& lowerings, DeviceId device, std::uint32_t index,
                         std::vector<DeviceId>& destinations) {
  const Program& program = lowerings.program();
  const Collective& collective = program.collectives[index];
  const auto& slots = program.devices[device].groups;
  if (collective.group_slot >= slots.size() || slots[collective.group_slot] == no_group) return;
  const GroupId id = slots[collective.group_slot];
  const Group& group = program.groups[id];
  const auto rank = rank_in(group, device);
  if (!rank) return;
  const CollectiveCall call = lowerings.call(index, id, *rank);
  std::vector<std::uint32_t> ranks;
  algorithm_of(call).destinations(call, ranks);
  for (const std::uint32_t peer : ranks) destinations.push_back(group.members[peer]);
}

}  // namespace tessera::program
