// What messages, collectives and kernels take in a walk, without a network.
#pragma once

#include <map>

#include "walk.hpp"

namespace tessera::sim {

/// Of a program's collectives in its groups, by their closed forms and reductions, each found once.
class CollectiveTimes {
 public:
  CollectiveTimes(const machine::Machine& machine, const program::Program& program, CostTables& costs)
      : machine_(machine), program_(program), costs_(costs) {}

  Time operator()(std::uint32_t index, program::GroupId group);

 private:
  Time find(const program::Collective& collective, const program::Group& group);

  const machine::Machine& machine_;
  const program::Program& program_;
  CostTables& costs_;
  std::map<std::pair<std::uint32_t, program::GroupId>, Time> known_;
};

/// A message that meets no other.
[[nodiscard]] Time idle_message(const machine::Routes& routes, const machine::Connection& connection,
                                std::int64_t bytes);
/// Until a message has left its device.
[[nodiscard]] Time idle_departure(const machine::Routes& routes, const machine::Connection& connection,
                                  std::int64_t bytes);
/// Whether each member's result needs data of every other one.
[[nodiscard]] bool needs_all(const program::Collective& collective, const program::Group& group);
/// Whether members are taken to wait for each other: where some could go on without some others, as the root of a
/// broadcast does, all go on by themselves.
[[nodiscard]] bool all_wait(const program::Collective& collective, const program::Group& group);
/// Of a kernel, on all members alike.
[[nodiscard]] Time kernel_time(const machine::Machine& machine, const program::Kernel& kernel,
                               const program::Group& group);
[[nodiscard]] bool kernel_joins(const program::Kernel& kernel, const program::Group& group);

/// Never longer than simulated: messages are alone, and collectives take no time but that of waiting for whom they
/// need. `ways`: what the program binds. All of it outlives the rules.
[[nodiscard]] WalkRules least_rules(const machine::Machine& machine, const program::Program& program,
                                    const machine::BoundWays& ways);
/// As on an idle network; the same of what is handed over.
[[nodiscard]] WalkRules idle_rules(const machine::Machine& machine, const program::Program& program,
                                   const machine::BoundWays& ways, CollectiveTimes& times);

}  // namespace tessera::sim
