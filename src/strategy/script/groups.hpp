// The groups of a script.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "devices.hpp"
#include "tables.hpp"

namespace tessera::strategy::script {

/// All groups of one name: a device is in one of them at most. Its place in GroupSets is its group slot in the program.
struct GroupSet {
  std::string name;
  std::vector<program::GroupId> groups;     ///< into Program::groups
  std::vector<program::GroupId> of_device;  ///< by device; no_group for those outside
};

class GroupSets {
 public:
  /// Reads all [[strategy.group]] tables into `program`. The set "all", of all live devices, is always there.
  GroupSets(const std::vector<GroupTable>& tables, const config::Table& strategy, const machine::Machine& machine,
            program::Program& program, config::Diagnostics& diagnostics);

  [[nodiscard]] const std::vector<GroupSet>& sets() const { return sets_; }
  /// Slot of a name; reports one that is not defined.
  [[nodiscard]] std::optional<std::uint32_t> find(const config::Value& name, config::Diagnostics& diagnostics) const;

 private:
  void read(const GroupTable& group, const config::Table& table, config::Diagnostics& diagnostics);
  void add(GroupSet& set, Devices members, const config::Location& where, config::Diagnostics& diagnostics);
  GroupSet& set_of(const std::string& name);

  const machine::Machine& machine_;
  program::Program& program_;
  std::vector<GroupSet> sets_;
};

}  // namespace tessera::strategy::script
