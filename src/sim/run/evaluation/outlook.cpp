#include "outlook.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "device_classes.hpp"
#include "least_collective.hpp"
#include "walk_rules.hpp"

namespace tessera::sim {
namespace {

using program::DeviceId;
using program::GroupId;

/// What classes do together, by the least or by the most of their members.
class ClassTimes {
 public:
  ClassTimes(const machine::Machine& machine, const program::Program& program, const DeviceClasses& classes,
             CostTables& costs)
      : program_(program),
        classes_(classes),
        costs_(costs),
        ways_(program.ways),
        routes_(machine.network, ways_),
        times_(machine, program, costs) {}
  ClassTimes(const ClassTimes&) = delete;
  ClassTimes& operator=(const ClassTimes&) = delete;

  // Connections between classes:
  Time least_message_of(const machine::Connection& classes, std::int64_t bytes) {
    return once(messages_, key_of(classes, bytes), [&] {
      Time least = never;
      for (const auto& [one, other] : classes_.peers(classes.from, classes.to).pairs)
        least = std::min(least, least_message(routes_, {one, other, classes.channel}, bytes));
      return least;
    });
  }
  Time idle_message_of(const machine::Connection& classes, std::int64_t bytes) {
    return once(messages_, key_of(classes, bytes), [&] { return idle_message(routes_, first_of(classes), bytes); });
  }
  Time departure(const machine::Connection& classes, std::int64_t bytes) {
    return once(departures_, key_of(classes, bytes), [&] { return idle_departure(routes_, first_of(classes), bytes); });
  }

  /// Where the members of a group are of several classes, nobody knows which of them is the last to be done.
  Time least_collective(std::uint32_t index, GroupId group, LeastTimes& known) {
    if (!classes_.is_inside(group)) return 0;
    return once(collectives_, {index, group, 0, 0}, [&] {
      Time least = never;
      for (const GroupId real : classes_.groups[group])
        least = std::min(least, known.of(program_, index, real, costs_));
      return least;
    });
  }
  bool needs_all_of(std::uint32_t index, GroupId group) {
    const auto [found, added] = needs_all_.try_emplace({index, group}, false);
    if (added) {
      found->second = std::ranges::all_of(classes_.groups[group], [&](GroupId real) {
        return needs_all(program_.collectives[index], program_.groups[real]);
      });
    }
    return found->second;
  }
  Time idle_collective(std::uint32_t index, GroupId group) { return times_(index, first_of(group)); }
  [[nodiscard]] GroupId first_of(GroupId group) const { return classes_.groups[group].front(); }
  [[nodiscard]] const program::Group& first_group(GroupId group) const { return program_.groups[first_of(group)]; }

 private:
  using Key = std::array<std::int64_t, 4>;
  using Known = std::map<Key, Time>;

  [[nodiscard]] Key key_of(const machine::Connection& classes, std::int64_t bytes) const {
    return {classes.from, classes.to, ways_.empty() ? 0 : std::int64_t{classes.channel}, bytes};
  }
  [[nodiscard]] machine::Connection first_of(const machine::Connection& classes) const {
    const auto [one, other] = classes_.peers(classes.from, classes.to).pairs.front();
    return {one, other, classes.channel};
  }
  template <class Find>
  static Time once(Known& known, const Key& key, const Find& find) {
    const auto [found, added] = known.try_emplace(key, 0);
    if (added) found->second = find();
    return found->second;
  }

  const program::Program& program_;
  const DeviceClasses& classes_;
  CostTables& costs_;
  machine::BoundWays ways_;
  machine::Routes routes_;  // which looks at them
  CollectiveTimes times_;
  Known messages_, departures_, collectives_;
  std::map<std::pair<std::uint32_t, GroupId>, bool> needs_all_;
};

WalkRules least_of_classes(ClassTimes& times, LeastTimes& known) {
  WalkRules rules;
  rules.message = [&](const machine::Connection& classes, std::int64_t bytes) {
    return times.least_message_of(classes, bytes);
  };
  rules.departure = [](const machine::Connection&, std::int64_t) { return Time{0}; };
  rules.joins = [&](std::uint32_t index, GroupId group) { return times.needs_all_of(index, group); };
  rules.collective = [&](std::uint32_t index, GroupId group) { return times.least_collective(index, group, known); };
  rules.kernel_joins = [](std::uint32_t, GroupId) { return false; };
  rules.kernel = [](std::uint32_t, GroupId) { return Time{0}; };
  return rules;
}

WalkRules idle_classes(ClassTimes& times, const machine::Machine& machine, const program::Program& program) {
  WalkRules rules;
  rules.message = [&](const machine::Connection& classes, std::int64_t bytes) {
    return times.idle_message_of(classes, bytes);
  };
  rules.departure = [&](const machine::Connection& classes, std::int64_t bytes) {
    return times.departure(classes, bytes);
  };
  rules.joins = [&](std::uint32_t index, GroupId group) {
    return all_wait(program.collectives[index], times.first_group(group));
  };
  rules.collective = [&](std::uint32_t index, GroupId group) { return times.idle_collective(index, group); };
  rules.kernel_joins = [&](std::uint32_t index, GroupId group) {
    return kernel_joins(program.kernels[index], times.first_group(group));
  };
  rules.kernel = [&](std::uint32_t index, GroupId group) {
    return kernel_time(machine, program.kernels[index], times.first_group(group));
  };
  return rules;
}

/// Of each class, its kind and the speed of its fastest member.
std::vector<machine::KindAndSpeed> fastest_of(const DeviceClasses& classes, const machine::Machine& machine) {
  std::vector<machine::KindAndSpeed> all;
  for (const auto& members : classes.members) {
    double fastest = 0;
    for (const DeviceId member : members) fastest = std::max(fastest, machine.speed[member]);
    all.push_back({machine.kind(members.front()), fastest});
  }
  return all;
}

Time least_by(bool speed, const machine::Machine& machine, const program::Program& program, CostTables& costs,
              LeastTimes& known) {
  const auto classes = device_classes(machine, program, speed);
  if (!classes) return 0;
  ClassTimes times(machine, program, *classes, costs);
  const Walked walked = walk(fastest_of(*classes, machine), classes->program, costs, least_of_classes(times, known));
  return walked.ended ? walked.time : 0;
}

bool has_several_speeds(const machine::Machine& machine, const program::Program& program) {
  double speed = 0;
  for (DeviceId device = 0; device < program.devices.size(); ++device) {
    if (program.devices[device].streams.empty()) continue;
    if (speed != 0 && machine.speed[device] != speed) return true;
    speed = machine.speed[device];
  }
  return false;
}

}  // namespace

Time least_of(const machine::Machine& machine, const program::Program& program, CostTables& costs, LeastTimes& known) {
  // Classes of one speed know how slow their members are, those of several what their collectives take.
  Time least = least_by(false, machine, program, costs, known);
  if (has_several_speeds(machine, program)) least = std::max(least, least_by(true, machine, program, costs, known));
  return least;
}

Time estimate_of(const machine::Machine& machine, const program::Program& program, CostTables& costs) {
  const auto classes = device_classes(machine, program, true);
  Walked walked;
  if (classes) {
    ClassTimes times(machine, program, *classes, costs);
    walked = walk(fastest_of(*classes, machine), classes->program, costs, idle_classes(times, machine, program));
  } else {
    CollectiveTimes times(machine, program, costs);
    const machine::BoundWays ways(program.ways);
    walked = walk(kinds_and_speeds(machine), program, costs, idle_rules(machine, program, ways, times));
  }
  return walked.ended ? walked.time : 0;
}

}  // namespace tessera::sim
