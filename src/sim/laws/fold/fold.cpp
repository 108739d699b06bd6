#include "sim/laws/fold/fold.hpp"

#include <algorithm>

#include "sim/execution/channel.hpp"
#include "sim/laws/fold/shift.hpp"
#include "tessera/program/group_rank.hpp"

namespace tessera::sim {

Fold::Fold(const program::Program& program, const program::AlikeParts& alike, const NetworkTables& tables,
           std::uint32_t block, bool by_ends)
    : program_(&program),
      block_(block),
      order_(static_cast<std::uint32_t>(alike.parts.size()) / block),
      by_ends_(by_ends),
      components_(tables.components(), order_),
      links_(tables.network().links.size(), order_),
      slots_(program.groups.size(), 0) {
  for (std::uint32_t first = 0; first < block; ++first) {
    for (std::size_t i = 0; i < alike.parts[first].size(); ++i) {
      const program::DeviceId device = alike.parts[first][i];
      for (std::uint32_t times = 0; times < order_; ++times)
        static_cast<void>(components_.add(device, alike.parts[first + times * block][i], times, 0));
      devices_.push_back(device);
    }
  }
  std::sort(devices_.begin(), devices_.end());
  for (const program::DeviceProgram& device : program.devices) {
    for (std::uint32_t slot = 0; slot < device.groups.size(); ++slot)
      if (device.groups[slot] != program::no_group) slots_[device.groups[slot]] = slot;
  }
}

template <class Message>
pdes::ComponentId Fold::renamed(pdes::ComponentId sender, const Ahead& ahead, Message& message) const {
  if (by_ends_) return renamed_by_ends(ahead.destination, message);
  const std::uint32_t back = order_ - ahead.shifts;
  shift(message, *this, back);
  return shifted(sender, back);
}

// On links that are its sender's or its receiver's alone, it is the sender who hands it over to another part.
template <class Message>
pdes::ComponentId Fold::renamed_by_ends(program::DeviceId destination, Message& message) const {
  if constexpr (requires { message.destination; }) destination = message.destination;
  const MessageName name = name_at_ends(message.name, destination);
  if constexpr (requires { message.link; })
    message.link = links_.shifted(message.link, order_ + place(name.sender).shifts - place(message.name.sender).shifts);
  if constexpr (requires { message.destination; }) message.destination = place(destination).of;
  message.name = name;
  return name.sender;
}

// Who sends it to the one that is simulated for its destination. Messages of streams come from a peer.
MessageName Fold::name_at_ends(const MessageName& name, program::DeviceId destination) const {
  MessageName there = name;
  const program::DeviceId receiver = place(destination).of;
  if (!is_collective(name.channel)) {
    there.sender = peer_of_shifted(destination, name.sender, order_ - place(destination).shifts);
    return there;
  }
  const program::GroupId id = group_of(name.channel);
  const program::GroupId id_there = program_->devices[receiver].groups[slots_[id]];
  const program::Group &group = program_->groups[id], &group_there = program_->groups[id_there];
  const auto size = static_cast<std::uint32_t>(group.members.size());
  const auto rank = [](const program::Group& of, program::DeviceId device) { return *program::rank_in(of, device); };
  const std::uint32_t behind = (rank(group, destination) + size - rank(group, name.sender)) % size;
  there.sender = group_there.members[(rank(group_there, receiver) + size - behind) % size];
  there.channel = collective_channel(id_there, lane_of(name.channel));
  return there;
}

pdes::ComponentId Fold::as_received(pdes::ComponentId sender, const Ahead& ahead, Segment& message) const {
  return renamed(sender, ahead, message);
}
pdes::ComponentId Fold::as_received(pdes::ComponentId sender, const Ahead& ahead, Delivered& message) const {
  return renamed(sender, ahead, message);
}
pdes::ComponentId Fold::as_received(pdes::ComponentId sender, const Ahead& ahead, Amend& message) const {
  return renamed(sender, ahead, message);
}

program::GroupId Fold::group_of_shifted(program::GroupId group, program::DeviceId member, std::uint32_t times) const {
  return program_->devices[shifted(member, times)].groups[slots_[group]];
}

program::DeviceId Fold::peer_of_shifted(program::DeviceId device, program::DeviceId peer, std::uint32_t times) const {
  const std::vector<program::DeviceId>& peers = program_->devices[device].peers;
  const auto slot = std::ranges::find(peers, peer) - peers.begin();
  return program_->devices[shifted(device, times)].peers[static_cast<std::size_t>(slot)];
}

bool Fold::turns(program::GroupId group) const {
  const std::vector<program::DeviceId>& members = program_->groups[group].members;
  const auto takes_no_part = [this](program::DeviceId member) { return !takes_part(member); };
  if (std::ranges::any_of(members, takes_no_part)) return false;
  const auto by = program::rank_in(program_->groups[group], shifted(members.front(), 1));
  if (!by) return false;
  for (std::size_t rank = 0; rank < members.size(); ++rank)
    if (members[(rank + *by) % members.size()] != shifted(members[rank], 1)) return false;
  return true;
}

program::GroupId Fold::shifted_group(program::GroupId group, std::uint32_t times) const {
  const program::DeviceId member = shifted(program_->groups[group].members.front(), times);
  return program_->devices[member].groups[slots_[group]];
}

std::uint32_t Fold::shifted_channel(std::uint32_t channel, std::uint32_t times) const {
  if (!is_collective(channel)) return channel;
  return collective_channel(shifted_group(group_of(channel), times), lane_of(channel));
}

Fold Fold::simulated_at(std::uint32_t base) const {
  Fold other = *this;
  other.base_ = (base_ + base) % order_;
  for (program::DeviceId& device : other.devices_) device = shifted(device, base);
  std::sort(other.devices_.begin(), other.devices_.end());
  return other;
}

// What a device serves is where the device is; an output of a switch is a component by itself.
bool Fold::add_link(const NetworkTables& tables, machine::LinkId first, machine::LinkId other, std::uint32_t times) {
  const pdes::ComponentId here = tables.server(first), there = tables.server(other);
  if (tables.is_device(here)) {
    return takes_part(here) && shifted(here, times) == there &&
           links_.add(first, other, times, components_.shifts(here));
  }
  return !tables.is_device(there) && components_.add(here, there, times, 0) &&
         links_.add(first, other, times, components_.shifts(here));
}

// As many shifts further on as its device is.
bool Fold::add_own_link(const NetworkTables& tables, machine::LinkId first, program::DeviceId of_first,
                        machine::LinkId other, program::DeviceId of_other) {
  const std::uint32_t at = components_.shifts(of_first);
  const std::uint32_t times = (components_.shifts(of_other) + order_ - at) % order_;
  const pdes::ComponentId here = tables.server(first), there = tables.server(other);
  if (tables.is_device(here)) {
    if (here != of_first || there != of_other) return false;
  } else if (tables.is_device(there) || !components_.add(here, there, times, at)) {
    return false;
  }
  return links_.add(first, other, times, at);
}

}  // namespace tessera::sim
