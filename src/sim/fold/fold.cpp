#include "sim/fold/fold.hpp"

#include <algorithm>

#include "sim/execution/channel.hpp"

namespace tessera::sim {

Fold::Fold(const program::Program& program, const NetworkTables& tables, std::uint32_t block)
    : program_(&program),
      block_(block),
      order_(static_cast<std::uint32_t>(program.replicas.size()) / block),
      entries_(tables.components()),
      slots_(program.groups.size(), 0) {
  for (std::uint32_t first = 0; first < block; ++first) {
    for (std::size_t i = 0; i < program.replicas[first].size(); ++i) {
      const auto orbit = static_cast<std::uint32_t>(orbits_.size() / order_);
      for (std::uint32_t times = 0; times < order_; ++times) {
        const program::DeviceId device = program.replicas[first + times * block][i];
        entries_[device] = {orbit, times};
        orbits_.push_back(device);
      }
      devices_.push_back(program.replicas[first][i]);
    }
  }
  std::sort(devices_.begin(), devices_.end());
  for (const program::DeviceProgram& device : program.devices) {
    for (std::uint32_t slot = 0; slot < device.groups.size(); ++slot)
      if (device.groups[slot] != program::no_group) slots_[device.groups[slot]] = slot;
  }
}

program::GroupId Fold::shifted_group(program::GroupId group, std::uint32_t times) const {
  const program::DeviceId member = shifted(program_->groups[group].members.front(), times);
  return program_->devices[member].groups[slots_[group]];
}

std::uint32_t Fold::shifted_channel(std::uint32_t channel, std::uint32_t times) const {
  if (!is_collective(channel)) return channel;
  const auto lane = static_cast<std::uint16_t>(channel & ((1U << lane_bits) - 1));
  return collective_channel(shifted_group(group_of(channel), times), lane);
}

machine::LinkId Fold::shifted_link(const NetworkTables& tables, machine::LinkId link, std::uint32_t times) const {
  const pdes::ComponentId server = tables.server(link), there = shifted(server, times);
  if (!tables.is_device(server)) return tables.switch_link(there);
  const auto& first_link = tables.network().first_link;
  return link - first_link[server] + first_link[there];
}

Fold Fold::simulated_at(std::uint32_t base) const {
  Fold other = *this;
  other.base_ = (base_ + base) % order_;
  for (program::DeviceId& device : other.devices_) device = shifted(device, base);
  std::sort(other.devices_.begin(), other.devices_.end());
  return other;
}

void Fold::add_split(std::uint32_t collective, program::GroupId group) {
  for (const program::DeviceId member : program_->groups[group].members) {
    const program::GroupId simulated = program_->devices[place(member).of].groups[slots_[group]];
    splits_.insert(key_of(collective, simulated));
  }
}

bool Fold::add_output(pdes::ComponentId first, pdes::ComponentId other, std::uint32_t times) {
  if (!takes_part(first)) {
    entries_[first] = {static_cast<std::uint32_t>(orbits_.size() / order_), 0};
    orbits_.push_back(first);
    orbits_.insert(orbits_.end(), order_ - 1, none);
  }
  const std::uint32_t orbit = entries_[first].orbit, shifts = (entries_[first].shifts + times) % order_;
  pdes::ComponentId& known = orbits_[std::size_t{orbit} * order_ + shifts];
  if (known == none && !takes_part(other)) {
    known = other;
    entries_[other] = {orbit, shifts};
  }
  return known == other;
}

}  // namespace tessera::sim
