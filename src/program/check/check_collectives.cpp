#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "../block_order.hpp"
#include "problems.hpp"
#include "tessera/program/collective.hpp"

namespace tessera::program {
namespace {

using Kind = TrafficKey::Kind;

/// The calls of one group, in order of device and stream.
using Calls = std::vector<const Sequence*>;

struct Checker {
  const Program& program;
  const machine::Machine& machine;
  Problems problems;
  /// Collectives that an entry block calls on a group slot and its aliases.
  std::map<std::tuple<BlockTraffic*, BlockId, std::uint32_t>, std::set<std::uint32_t>> used;

  [[nodiscard]] const Collective& call(const Sequence& sequence, std::int64_t index) const {
    return program.collectives[sequence.at(index).a];
  }
  [[nodiscard]] std::string first_call(GroupId group, const Sequence& sequence) const {
    return fmt::format("{} of group {}", name_of(call(sequence, 0).kind), group_text(program.groups[group]));
  }

  void check(GroupId group, const Calls& calls);
  void check_absent(GroupId group, const Sequence& reference, DeviceId device);
  void check_alike(GroupId group, const Sequence& reference, const Sequence& other);
  void check_fit(GroupId group, const Sequence& reference);
  const std::set<std::uint32_t>& collectives_of(const Sequence& sequence);
};

void Checker::check(GroupId group, const Calls& calls) {
  std::map<DeviceId, const Sequence*> by_device;
  for (const Sequence* sequence : calls) {
    const auto [other, fresh] = by_device.emplace(sequence->device, sequence);
    if (fresh) continue;
    problems.add(
        fmt::format("{}: device {} calls it in streams {} and {}: the order would depend on time, "
                    "give each stream a group of its own",
                    first_call(group, *sequence), sequence->device, other->second->stream, sequence->stream));
    return;
  }
  const Sequence* reference = nullptr;
  for (const DeviceId member : program.groups[group].members) {
    const auto found = by_device.find(member);
    if (found == by_device.end()) continue;
    if (reference == nullptr) reference = found->second;
    check_alike(group, *reference, *found->second);
  }
  for (const DeviceId member : program.groups[group].members) {
    if (reference != nullptr && by_device.count(member) == 0) check_absent(group, *reference, member);
    by_device.erase(member);
  }
  for (const auto& [device, sequence] : by_device) {
    problems.add(fmt::format("{}: device {} joins, but is no member", first_call(group, *sequence), device));
  }
  if (reference != nullptr) check_fit(group, *reference);
}

void Checker::check_absent(GroupId group, const Sequence& reference, DeviceId device) {
  std::string why;
  const std::vector<GroupId>& bound = program.devices[device].groups;
  const std::uint32_t slot = reference.key.slot;
  if (machine.speed[device] <= 0) {
    why = " (it is dead)";
  } else if (slot < bound.size() && bound[slot] != group && bound[slot] < program.groups.size()) {
    why = fmt::format(" (it is bound to group {}: groups overlap)", group_text(program.groups[bound[slot]]));
  }
  problems.add(fmt::format("{}: device {} never joins{}", first_call(group, reference), device, why));
}

/// How two calls that should match differ, as `other` and then `reference` have it.
std::pair<std::string, std::string> difference(const Collective& reference, const Collective& other) {
  const auto algorithm = [](const Collective& collective) {
    const AlgorithmList& all = list_of(collective.algorithm);
    return collective.algorithm.index < all.size() ? all[collective.algorithm.index]->name() : "none";
  };
  const auto unlike = [&](const char* what, auto first, auto second) {
    return std::pair(fmt::format("{} {}", what, first), fmt::format("{} {}", what, second));
  };
  if (other.kind != reference.kind) return {name_of(other.kind), name_of(reference.kind)};
  if (other.bytes != reference.bytes) return {bytes_text(other.bytes.value()), bytes_text(reference.bytes.value())};
  if (other.algorithm != reference.algorithm) return unlike("algorithm", algorithm(other), algorithm(reference));
  if (other.root != reference.root) return unlike("root", other.root, reference.root);
  if (other.rings != reference.rings) return unlike("rings", other.rings, reference.rings);
  if (other.element != reference.element) {
    return unlike("elements of", bytes_text(other.element.value()), bytes_text(reference.element.value()));
  }
  return {"shares of its own", "others"};
}

void Checker::check_alike(GroupId group, const Sequence& reference, const Sequence& other) {
  if (reference.digest == other.digest) return;
  const std::int64_t at = first_difference(reference, other);
  if (at == reference.digest.length || at == other.digest.length) {
    problems.add(fmt::format("{}: device {} joins {}, device {} {}", first_call(group, reference), other.device,
                             times_text(other.digest.length), reference.device, times_text(reference.digest.length)));
    return;
  }
  const Collective& expected = call(reference, at);
  const auto [has, should] = difference(expected, call(other, at));
  const std::string which = reference.digest.length > 1 ? fmt::format(" (call {})", at + 1) : "";
  problems.add(fmt::format("{} of group {}{}: device {} joins with {}, device {} with {}", name_of(expected.kind),
                           group_text(program.groups[group]), which, other.device, has, reference.device, should));
}

const std::set<std::uint32_t>& Checker::collectives_of(const Sequence& sequence) {
  const auto [found, fresh] = used.try_emplace({sequence.traffic, sequence.block, sequence.key.slot});
  if (!fresh) return found->second;
  for (const BlockId block : callers_first(program, sequence.block)) {
    for (const Instruction& instruction : program.blocks[block].code) {
      TrafficEntry entry;
      if (instruction.op == Op::collective && sequence.traffic->entry_of(instruction, entry) &&
          entry.key == sequence.key) {
        found->second.insert(instruction.a);
      }
    }
  }
  return found->second;
}

void Checker::check_fit(GroupId group, const Sequence& reference) {
  for (const std::uint32_t index : collectives_of(reference)) {
    const Collective& collective = program.collectives[index];
    const std::string problem = check_collective(collective, program.groups[group], machine);
    if (problem.empty()) continue;
    problems.add(
        fmt::format("{} of group {}: {}", name_of(collective.kind), group_text(program.groups[group]), problem));
  }
}

}  // namespace

Problems check_collectives(const Program& program, const machine::Machine& machine, ProgramTraffic& traffic) {
  const std::vector<Sequence> sequences = sequences_of(program, traffic, {Kind::collective});
  std::vector<Calls> by_group(program.groups.size());
  for (const Sequence& sequence : sequences) {
    by_group[program.devices[sequence.device].groups[sequence.key.slot]].push_back(&sequence);
  }
  Checker checker{program, machine, {}, {}};
  for (GroupId group = 0; group < by_group.size(); ++group) {
    if (!by_group[group].empty()) checker.check(group, by_group[group]);
  }
  return std::move(checker.problems);
}

}  // namespace tessera::program
