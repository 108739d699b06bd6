#include "sim/laws/fold/fold.hpp"

#include <algorithm>

#include "sim/execution/channel.hpp"
#include "sim/laws/fold/shift.hpp"

namespace tessera::sim {

Fold::Fold(const program::Program& program, const program::AlikeParts& alike, const NetworkTables& tables,
           std::uint32_t block)
    : program_(&program),
      block_(block),
      order_(static_cast<std::uint32_t>(alike.parts.size()) / block),
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

namespace {

template <class Message>
pdes::ComponentId shift_back(const Fold& fold, pdes::ComponentId sender, std::uint32_t shifts, Message& message) {
  const std::uint32_t back = fold.order() - shifts;
  shift(message, fold, back);
  return fold.shifted(sender, back);
}

}  // namespace

pdes::ComponentId Fold::as_received(pdes::ComponentId sender, std::uint32_t shifts, Segment& message) const {
  return shift_back(*this, sender, shifts, message);
}
pdes::ComponentId Fold::as_received(pdes::ComponentId sender, std::uint32_t shifts, Segments& message) const {
  return shift_back(*this, sender, shifts, message);
}
pdes::ComponentId Fold::as_received(pdes::ComponentId sender, std::uint32_t shifts, Delivered& message) const {
  return shift_back(*this, sender, shifts, message);
}
pdes::ComponentId Fold::as_received(pdes::ComponentId sender, std::uint32_t shifts, Amend& message) const {
  return shift_back(*this, sender, shifts, message);
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

}  // namespace tessera::sim
