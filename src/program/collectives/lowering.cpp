// What a group makes of a collective before its first step.
#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "tessera/base/error.hpp"
#include "tessera/machine/routes.hpp"
#include "tessera/program/collective.hpp"
#include "tessera/program/message_time.hpp"

namespace tessera::program {
namespace {

/// How the members of a node share its NICs.
class NodeMembers {
 public:
  NodeMembers(const Group& group, const machine::Machine& machine) : group_(group), machine_(machine) {
    while (locals_ < size() && place(locals_).node == place(0).node) ++locals_;
  }

  [[nodiscard]] std::uint32_t locals() const { return locals_; }
  /// The number of NICs that they use, the same in every node; 1 where they use no NIC, not evenly, or not side by
  /// side.
  [[nodiscard]] std::uint32_t nics() const {
    if (locals_ < 2 || locals_ == size() || size() % locals_ != 0) return 1;
    std::set<int> used;
    for (std::uint32_t i = 0; i < locals_; ++i) used.insert(place(i).nic);
    const auto nics = static_cast<std::uint32_t>(used.size());
    if (locals_ % nics != 0) return 1;
    for (std::uint32_t first = 0; first < size(); first += locals_) {
      if (!is_even(first, locals_ / nics)) return 1;
    }
    return nics;
  }

 private:
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(group_.members.size()); }
  [[nodiscard]] const machine::DevicePlace& place(std::uint32_t rank) const {
    return machine_.places[group_.members[rank]];
  }
  /// Whether the members from `first` on are those of a node, and so many side by side have a NIC.
  [[nodiscard]] bool is_even(std::uint32_t first, std::uint32_t members_of_nic) const {
    if (first > 0 && place(first).node == place(first - 1).node) return false;
    for (std::uint32_t i = 0; i < locals_; ++i) {
      const machine::DevicePlace& here = place(first + i);
      const bool begins = i % members_of_nic == 0;
      if (here.node != place(first).node || here.nic < 0) return false;
      if (i > 0 && (here.nic != place(first + i - 1).nic) != begins) return false;
    }
    return true;
  }

  const Group& group_;
  const machine::Machine& machine_;
  std::uint32_t locals_ = 0;
};

}  // namespace

// Messages of one step that leave over the same link share it.
double CollectiveAlgorithm::time(const Collective& collective, const Group& group,
                                 const machine::Machine& machine) const {
  const machine::NodeId first = group.members.front();
  const machine::Routes routes(machine.network);
  double sum = 0;
  for_all_steps(*this, make_call(collective, group, 0, machine), [&](const CollectiveCall&, const Step& step) {
    std::map<machine::LinkId, std::int64_t> bytes;
    for (const Transfer& send : step.sends) bytes[routes.first({first, group.members[send.peer]})] += send.bytes;
    double longest = 0;
    for (const Transfer& send : step.sends) {
      const DeviceId to = group.members[send.peer];
      longest = std::max(longest, message_time(routes, {first, to}, Bytes{bytes[routes.first({first, to})]}));
    }
    sum += longest;
  });
  return sum;
}

namespace {

/// Lowering::memory_rate, from the first member's transfers.
BytesPerSecond memory_rate_of(const CollectiveCall& call) {
  const CollectiveAlgorithm& algorithm = algorithm_of(call);
  double moved = 0;
  for_all_steps(algorithm, call, [&](const CollectiveCall&, const Step& step) {
    for (const Transfer& send : step.sends) moved += static_cast<double>(send.bytes);
    for (const Transfer& receive : step.receives) moved += static_cast<double>(receive.bytes) * (receive.add ? 2 : 1);
  });
  const double time = time_on_wire(call);
  return BytesPerSecond{time > 0 ? static_cast<std::int64_t>(moved * static_cast<double>(second) / time) : 0};
}

AlgorithmId place_in(const AlgorithmList& list, const CollectiveAlgorithm& algorithm) {
  const auto found = std::ranges::find(list, &algorithm, [](const AlgorithmPointer& one) { return one.get(); });
  if (found == list.end()) throw InternalError("a collective chooses an algorithm that is not in its list");
  return {static_cast<std::uint32_t>(found - list.begin()), list};
}

/// All but the plan.
Lowering unplanned(const Collective& collective, const Group& group, const machine::Machine& machine) {
  static const std::uint32_t ring = algorithm_index("ring"), tree = algorithm_index("double-tree");
  const CollectiveAlgorithm& named = algorithm_of(collective.algorithm);
  const auto [chosen, wire] = named.chosen(collective, group, machine);
  Lowering lowering;
  lowering.algorithm = chosen == &named ? collective.algorithm : place_in(list_of(collective.algorithm), *chosen);
  lowering.wire = wire;
  const bool leaves_by_nics = lowering.algorithm == ring || lowering.algorithm == tree;
  if (!leaves_by_nics || collective.kind == CollectiveKind::all_to_all) return lowering;
  const NodeMembers members(group, machine);
  const std::uint32_t nics = members.nics();
  lowering.rings = std::min(nics, collective.rings == 0 ? most_rings : collective.rings);
  lowering.locals = lowering.rings > 1 ? members.locals() : 1;
  return lowering;
}

}  // namespace

Lowering lowering_of(const Collective& collective, const Group& group, const machine::Machine& machine) {
  Lowering lowering = unplanned(collective, group, machine);
  lowering.plan = algorithm_of(lowering.algorithm).plan(group, machine);
  return lowering;
}

CollectiveCall make_call(const Collective& collective, const Group& group, std::uint32_t rank,
                         const machine::Machine& machine) {
  return {&collective, rank,     static_cast<std::uint32_t>(group.members.size()),
          &group,      &machine, lowering_of(collective, group, machine)};
}

CollectiveCall Lowerings::call(std::uint32_t index, GroupId group, std::uint32_t rank) {
  const Collective& collective = program_->collectives[index];
  const Group& members = program_->groups[group];
  const auto [found, added] = known_.try_emplace(std::uint64_t{group} << 32U | index);
  const auto of = [&, found = found](std::uint32_t member) -> CollectiveCall {
    return {&collective, member, static_cast<std::uint32_t>(members.members.size()), &members, machine_, found->second};
  };
  if (added) {
    found->second = unplanned(collective, members, *machine_);
    const AlgorithmId algorithm = found->second.algorithm;
    const auto [plan, missing] = plans_.try_emplace(std::uint64_t{group} << 32U | algorithm.index);
    if (missing) plan->second = algorithm_of(algorithm).plan(members, *machine_);
    found->second.plan = plan->second;
    if (program_->channels > 0) found->second.memory_rate = memory_rate_of(of(0));
  }
  return of(rank);
}

const CollectiveAlgorithm& algorithm_of(const CollectiveCall& call) { return algorithm_of(call.lowering.algorithm); }

}  // namespace tessera::program
