// A program followed without a network: every device's streams, with times for messages and collectives that do not
// depend on what else is under way.
#pragma once

#include <functional>
#include <vector>

#include "sim/execution/cost_table.hpp"
#include "tessera/machine/routes.hpp"
#include "tessera/program/program.hpp"

namespace tessera::sim {

/// How long what devices do together takes, in ps.
struct WalkRules {
  /// From the moment a message is posted until the whole of it is there.
  std::function<Time(const machine::Connection& connection, std::int64_t bytes)> message;
  /// Until it has left the device, for wait_sends.
  std::function<Time(const machine::Connection& connection, std::int64_t bytes)> departure;
  /// Program::collectives[index] in a group, from the moment the last member has joined.
  std::function<Time(std::uint32_t index, program::GroupId group)> collective;
  /// Whether its members wait for each other.
  std::function<bool(std::uint32_t index, program::GroupId group)> joins;
  /// Program::kernels[index] on each member of its group, and whether these wait for each other.
  std::function<Time(std::uint32_t index, program::GroupId group)> kernel;
  std::function<bool(std::uint32_t index, program::GroupId group)> kernel_joins;
  /// Whether a wait for an event takes until it was raised; false: no time.
  bool events = true;
};

struct Walked {
  bool ended = true;       ///< false: some stream waits for ever
  Time time = 0;           ///< when the last stream has ended
  std::vector<Time> busy;  ///< computing, by device, and for each by Activity
};

/// By device.
[[nodiscard]] std::vector<machine::KindAndSpeed> kinds_and_speeds(const machine::Machine& machine);

/// `devices`: what each is. Streams of a device compute side by side; what a device computes in all bounds the time
/// from below as well. Beyond the range of time: `never`.
[[nodiscard]] Walked walk(const std::vector<machine::KindAndSpeed>& devices, const program::Program& program,
                          CostTables& costs, const WalkRules& rules);

}  // namespace tessera::sim
