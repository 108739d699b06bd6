// Devices that do the same, taken together: a program of one device for each class of them.
#pragma once

#include <optional>
#include <vector>

#include "tessera/machine/machine.hpp"
#include "tessera/program/program.hpp"

namespace tessera::sim {

/// From each member of a class to the one of another class that it sends to.
struct ClassPeers {
  std::vector<std::pair<program::DeviceId, program::DeviceId>> pairs;
};

struct DeviceClasses {
  /// The program's blocks; devices are classes, peers and groups those of classes.
  program::Program program;
  std::vector<std::vector<program::DeviceId>> members;          ///< by class
  std::vector<std::vector<program::GroupId>> groups;            ///< by group of classes: those of devices that it is
  std::vector<std::vector<std::vector<program::DeviceId>>> at;  ///< by class and peer slot: whom each member means
  /// Pairs of devices by classes. InternalError where the one never sends to the other.
  [[nodiscard]] ClassPeers peers(program::DeviceId from, program::DeviceId to) const;
  /// A group of classes that is one class by itself: each of its groups of devices lies inside of that.
  [[nodiscard]] bool is_inside(program::GroupId group) const { return program.groups[group].members.size() == 1; }
};

/// Members of a class are of one kind and run the same code (and, where asked for, at one speed), and what a slot of
/// them means lies in one class, member by member. Nothing where messages or events of a class would be taken for each
/// other.
[[nodiscard]] std::optional<DeviceClasses> device_classes(const machine::Machine& machine,
                                                          const program::Program& program, bool by_speed);

}  // namespace tessera::sim
