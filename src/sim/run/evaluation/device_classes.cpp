#include "device_classes.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "tessera/base/error.hpp"

namespace tessera::sim {
namespace {

using program::DeviceId;
using program::GroupId;
using program::Op;
using program::Program;

constexpr std::uint32_t nobody = ~std::uint32_t{0};

/// Classes by device, made finer until the slots of a class mean the same (Hopcroft 1971, by rounds).
class Refinement {
 public:
  Refinement(const machine::Machine& machine, const Program& program, bool by_speed) : program_(program) {
    std::map<std::pair<std::vector<program::BlockId>, machine::KindAndSpeed>, std::uint32_t> known;
    for (DeviceId device = 0; device < program.devices.size(); ++device) {
      const auto& streams = program.devices[device].streams;
      if (streams.empty()) {
        of_.push_back(nobody);
        continue;
      }
      const auto number = static_cast<std::uint32_t>(known.size());
      machine::KindAndSpeed is = machine.kind_and_speed(device);
      if (!by_speed) is.speed = 1;
      of_.push_back(known.try_emplace({streams, is}, number).first->second);
    }
    for (count_ = known.size(); refine();) {
    }
  }
  [[nodiscard]] const std::vector<std::uint32_t>& classes() const { return of_; }
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] const std::vector<std::vector<std::uint32_t>>& of_groups() const { return of_group_; }

 private:
  [[nodiscard]] std::uint32_t of(DeviceId device) const { return device < of_.size() ? of_[device] : nobody; }

  /// True: there are more now.
  bool refine() {
    of_group_.clear();
    for (const program::Group& group : program_.groups) {
      std::set<std::uint32_t> present;
      for (const DeviceId member : group.members) present.insert(of(member));
      of_group_.emplace_back(present.begin(), present.end());
    }
    std::map<std::vector<std::uint32_t>, std::uint32_t> number_of_set;
    for (const auto& present : of_group_)
      number_of_set.try_emplace(present, static_cast<std::uint32_t>(number_of_set.size()));
    std::map<std::vector<std::uint32_t>, std::uint32_t> known;
    std::vector<std::uint32_t> next(of_.size(), nobody);
    for (DeviceId device = 0; device < of_.size(); ++device) {
      if (of_[device] == nobody) continue;
      std::vector<std::uint32_t> key{of_[device]};
      for (const DeviceId peer : program_.devices[device].peers) key.push_back(of(peer));
      for (const GroupId group : program_.devices[device].groups)
        key.push_back(group < of_group_.size() ? number_of_set.at(of_group_[group]) : nobody);
      next[device] = known.try_emplace(std::move(key), static_cast<std::uint32_t>(known.size())).first->second;
    }
    const bool is_finer = known.size() > count_;
    if (is_finer) {
      of_ = std::move(next);
      count_ = known.size();
    }
    return is_finer;
  }

  const Program& program_;
  std::vector<std::uint32_t> of_;                     // by device
  std::vector<std::vector<std::uint32_t>> of_group_;  // which classes a group's members are in, by group
  std::size_t count_ = 0;
};

/// What the streams of a class use.
struct Uses {
  std::set<std::pair<std::uint32_t, std::uint32_t>> sends, receives;  // slot, channel
  bool shares_events = false;                                         // raised from, or waited for in, two streams
};

Uses uses_of(const Program& program, const std::vector<program::BlockId>& streams) {
  Uses uses;
  std::map<std::pair<Op, std::uint32_t>, std::size_t> events;  // by which stream first
  for (std::size_t stream = 0; stream < streams.size(); ++stream) {
    for (const auto& [block, times] : program::block_runs(program, streams[stream])) {
      for (const program::Instruction& one : program.blocks[block].code) {
        if (one.op == Op::send) uses.sends.insert({one.a, one.b});
        if (one.op == Op::receive) uses.receives.insert({one.a, one.b});
        const bool is_event = one.op == Op::signal || one.op == Op::wait;
        if (is_event && events.try_emplace({one.op, one.a}, stream).first->second != stream) uses.shares_events = true;
      }
    }
  }
  return uses;
}

class Builder {
 public:
  Builder(const Program& program, const Refinement& classes) : program_(program), classes_(classes) {
    all_.program = program;
    all_.program.groups.clear();
    all_.program.ways.clear();  // of devices, not of classes
    all_.program.devices.assign(classes.count(), {});
    all_.members.resize(classes.count());
    for (DeviceId device = 0; device < program.devices.size(); ++device)
      if (classes.classes()[device] != nobody) all_.members[classes.classes()[device]].push_back(device);
  }

  std::optional<DeviceClasses> build() {
    for (std::uint32_t one = 0; one < all_.members.size(); ++one) {
      const program::DeviceProgram& first = program_.devices[all_.members[one].front()];
      program::DeviceProgram& bound = all_.program.devices[one];
      bound.streams = first.streams;
      bound.events = first.events;
      bind_peers(one, first, bound);
      for (std::uint32_t slot = 0; slot < first.groups.size(); ++slot) bound.groups.push_back(group_of(one, slot));
      if (!is_plain(one)) return std::nullopt;
    }
    if (!groups_agree()) return std::nullopt;
    return std::move(all_);
  }

 private:
  void bind_peers(std::uint32_t one, const program::DeviceProgram& first, program::DeviceProgram& bound) {
    auto& at = all_.at.emplace_back(first.peers.size());
    for (std::size_t slot = 0; slot < first.peers.size(); ++slot) {
      const DeviceId peer = first.peers[slot];
      const std::uint32_t to = peer < program_.devices.size() ? classes_.classes()[peer] : nobody;
      bound.peers.push_back(to == nobody ? program::no_device : to);
      for (const DeviceId member : all_.members[one]) at[slot].push_back(program_.devices[member].peers[slot]);
    }
  }

  /// A group of classes for all groups that the members of one have in a slot.
  GroupId group_of(std::uint32_t one, std::uint32_t slot) {
    std::vector<GroupId> real;
    for (const DeviceId member : all_.members[one]) {
      const GroupId group = program_.devices[member].groups[slot];
      if (group >= program_.groups.size()) return program::no_group;
      real.push_back(group);
    }
    std::ranges::sort(real);
    real.erase(std::ranges::unique(real).begin(), real.end());
    const auto [found, added] = known_.try_emplace(real, static_cast<GroupId>(all_.groups.size()));
    if (added) {
      const auto& present = classes_.of_groups()[real.front()];
      all_.program.groups.push_back({{present.begin(), present.end()}});
      all_.groups.push_back(std::move(real));
    }
    return found->second;
  }

  /// Each group of devices belongs to one group of classes: who meets there is the same for all.
  [[nodiscard]] bool groups_agree() const {
    std::set<GroupId> seen;
    for (const auto& real : all_.groups) {
      for (const GroupId group : real)
        if (!seen.insert(group).second) return false;
    }
    return true;
  }

  /// Events are raised by one stream and waited for by one, since in a walk streams take turns of their own, and
  /// messages between two classes on a channel come from one member each.
  [[nodiscard]] bool is_plain(std::uint32_t one) const {
    const Uses uses = uses_of(program_, all_.program.devices[one].streams);
    if (uses.shares_events) return false;
    return all_.members[one].size() == 1 || (is_plain(one, uses.sends) && is_plain(one, uses.receives));
  }
  [[nodiscard]] bool is_plain(std::uint32_t one, const std::set<std::pair<std::uint32_t, std::uint32_t>>& used) const {
    std::map<std::pair<DeviceId, std::uint32_t>, std::uint32_t> first;  // by class and channel: the slot
    for (const auto& [slot, channel] : used) {
      if (slot >= all_.at[one].size()) return false;
      const std::vector<DeviceId>& mine = all_.at[one][slot];
      const DeviceId to = all_.program.devices[one].peers[slot];
      if (to == program::no_device) return false;
      std::vector<DeviceId> different = mine;
      std::ranges::sort(different);
      if (std::ranges::adjacent_find(different) != different.end()) return false;
      const std::uint32_t known = first.try_emplace({to, channel}, slot).first->second;
      if (all_.at[one][known] != mine) return false;
    }
    return true;
  }

  const Program& program_;
  const Refinement& classes_;
  DeviceClasses all_;
  std::map<std::vector<GroupId>, GroupId> known_;
};

}  // namespace

ClassPeers DeviceClasses::peers(DeviceId from, DeviceId to) const {
  ClassPeers found;
  for (std::size_t slot = 0; slot < at[from].size(); ++slot) {
    if (program.devices[from].peers[slot] != to) continue;
    for (std::size_t i = 0; i < members[from].size(); ++i)
      found.pairs.emplace_back(members[from][i], at[from][slot][i]);
  }
  if (found.pairs.empty()) throw InternalError("two classes of devices have nothing to do with each other");
  return found;
}

std::optional<DeviceClasses> device_classes(const machine::Machine& machine, const Program& program, bool by_speed) {
  const Refinement classes(machine, program, by_speed);
  return Builder(program, classes).build();
}

}  // namespace tessera::sim
