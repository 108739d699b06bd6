#include "groups.hpp"

#include <fmt/format.h>

namespace tessera::strategy::script {

GroupSets::GroupSets(const std::vector<GroupTable>& tables, const config::Table& strategy,
                     const machine::Machine& machine, program::Program& program, config::Diagnostics& diagnostics)
    : machine_(machine), program_(program) {
  add(set_of("all"), live_devices(machine), strategy.where(), diagnostics);
  const config::Value* value = strategy.find("group");
  const config::Array* array = value == nullptr ? nullptr : value->array();
  for (std::size_t i = 0; array != nullptr && i < array->size() && i < tables.size(); ++i) {
    if (const config::Table* table = (*array)[i].table()) read(tables[i], *table, diagnostics);
  }
}

void GroupSets::read(const GroupTable& group, const config::Table& table, config::Diagnostics& diagnostics) {
  const config::Value* list = table.find("devices");
  if (list == nullptr) return diagnostics.error(table.where(), "a group needs \"devices\"");
  if (group.name == "all") return diagnostics.error(table.where(), "the group \"all\" is always there, of all devices");
  const auto devices = read_devices(*list, machine_, diagnostics);
  if (!devices) return;
  GroupSet& set = set_of(group.name);
  const auto count = static_cast<std::int64_t>(devices->size());
  if (group.size == 0) {
    if (table.find("stride") != nullptr) diagnostics.error(table.where(), "\"stride\" needs \"size\" beside it");
    return add(set, *devices, list->where(), diagnostics);
  }
  if (group.size > count || group.stride > count || count % (group.size * group.stride) != 0) {
    return diagnostics.error(list->where(), fmt::format("{} devices do not divide into groups of {} with stride {}",
                                                        count, group.size, group.stride));
  }
  const std::int64_t span = group.size * group.stride;  // of the list, shared by `stride` interleaved groups
  for (std::int64_t number = 0; number < count / group.size; ++number) {
    const std::int64_t first = number / group.stride * span + number % group.stride;
    Devices members;
    for (std::int64_t i = 0; i < group.size; ++i) {
      members.push_back((*devices)[static_cast<std::size_t>(first + i * group.stride)]);
    }
    add(set, std::move(members), list->where(), diagnostics);
  }
}

void GroupSets::add(GroupSet& set, Devices members, const config::Location& where, config::Diagnostics& diagnostics) {
  const auto id = static_cast<program::GroupId>(program_.groups.size());
  for (const program::DeviceId device : members) {
    program::GroupId& bound = set.of_device[device];
    if (bound != program::no_group) {
      return diagnostics.error(
          where, fmt::format("groups overlap: device {} is in another group \"{}\" already", device, set.name));
    }
    bound = id;
  }
  set.groups.push_back(id);
  program_.groups.push_back({std::move(members)});
}

GroupSet& GroupSets::set_of(const std::string& name) {
  for (GroupSet& set : sets_) {
    if (set.name == name) return set;
  }
  return sets_.emplace_back(GroupSet{name, {}, std::vector<program::GroupId>(machine_.devices(), program::no_group)});
}

std::optional<std::uint32_t> GroupSets::find(const config::Value& name, config::Diagnostics& diagnostics) const {
  std::vector<std::string> names;
  for (std::uint32_t slot = 0; slot < sets_.size(); ++slot) {
    if (sets_[slot].name == *name.string()) return slot;
    names.push_back(sets_[slot].name);
  }
  diagnostics.error(name.where(), fmt::format("no group \"{}\"{}, defined: {}", *name.string(),
                                              config::suggestion(*name.string(), names), config::listed(names)));
  return std::nullopt;
}

}  // namespace tessera::strategy::script
