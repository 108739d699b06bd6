#include "sim/laws/fold/find_fold.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "sim/execution/destinations.hpp"
#include "sim/laws/fold/alike_routes.hpp"
#include "sim/laws/fold/fold_by_ends.hpp"
#include "sim/laws/fold/unlike.hpp"
#include "tessera/program/group_rank.hpp"

namespace tessera::sim {
namespace {

using program::DeviceId;
using program::GroupId;

/// Compares the parts of a program, a block of them with the next one.
class Comparison {
 public:
  Comparison(const machine::Machine& machine, program::Lowerings& lowerings, const NetworkTables& tables,
             const program::AlikeParts& alike, std::uint32_t block)
      : machine_(machine),
        lowerings_(lowerings),
        program_(lowerings.program()),
        tables_(tables),
        alike_(alike),
        fold_(std::make_unique<Fold>(program_, alike, tables, block)) {}

  FoundFold find() {
    if (devices_are_alike() && groups_are_alike() && routes_are_alike()) return {std::move(fold_), {}};
    return {nullptr, problem_};
  }

 private:
  bool devices_are_alike();
  bool device_is_like(DeviceId device, DeviceId other);
  bool groups_are_alike();
  bool group_is_like(GroupId id, GroupId other_id, std::uint32_t slot);
  bool collective_is_alike(std::uint32_t index, GroupId id, GroupId other, std::uint32_t by);
  bool routes_are_alike();
  [[nodiscard]] std::string described(const program::Collective& collective, GroupId id) const;
  [[nodiscard]] std::string name(DeviceId device) const { return machine_.node_name(device); }

  const machine::Machine& machine_;
  program::Lowerings& lowerings_;
  const program::Program& program_;
  const NetworkTables& tables_;
  const program::AlikeParts& alike_;
  std::unique_ptr<Fold> fold_;
  std::string problem_;
};

bool Comparison::devices_are_alike() {
  for (DeviceId device = 0; device < program_.devices.size(); ++device) {
    if (program_.devices[device].streams.empty()) continue;
    if (!fold_->takes_part(device)) {
      problem_ = name(device) + " is in none of the " + alike_.name;
      return false;
    }
    if (!device_is_like(device, fold_->shifted(device, 1))) return false;
  }
  return true;
}

bool Comparison::device_is_like(DeviceId device, DeviceId other) {
  const auto is_peer = [&](DeviceId x, DeviceId y) {
    if (x == program::no_device || y == program::no_device) return x == y;
    return fold_->takes_part(x) && fold_->shifted(x, 1) == y;
  };
  problem_ = unlike_devices(machine_, program_, device, other);
  if (problem_.empty() && !std::ranges::equal(program_.devices[device].peers, program_.devices[other].peers, is_peer))
    problem_ = fmt::format("{} and {} have peers that do not correspond", name(device), name(other));
  return problem_.empty();
}

bool Comparison::groups_are_alike() {
  std::set<std::pair<GroupId, std::uint32_t>> known;  // and in which slot
  for (DeviceId device = 0; device < program_.devices.size(); ++device) {
    const std::vector<GroupId>& ours = program_.devices[device].groups;
    if (program_.devices[device].streams.empty()) continue;
    const std::vector<GroupId>& theirs = program_.devices[fold_->shifted(device, 1)].groups;
    for (std::uint32_t slot = 0; slot < ours.size(); ++slot) {
      const bool ours_is = ours[slot] != program::no_group,
                 theirs_is = slot < theirs.size() && theirs[slot] != program::no_group;
      bool alike = ours_is == theirs_is;
      if (alike && ours_is && known.insert({ours[slot], slot}).second)
        alike = group_is_like(ours[slot], theirs[slot], slot);
      if (alike) continue;
      if (problem_.empty())
        problem_ = fmt::format("the group of {} and that of {} do not correspond", name(device),
                               name(fold_->shifted(device, 1)));
      return false;
    }
  }
  return true;
}

// Whether members correspond: each as many ranks further on as any other, wherever they carry out collectives.
bool Comparison::group_is_like(GroupId id, GroupId other_id, std::uint32_t slot) {
  const std::vector<DeviceId>&ours = program_.groups[id].members, &theirs = program_.groups[other_id].members;
  if (ours.size() != theirs.size()) return false;
  std::vector<DeviceId> shifted;
  for (const DeviceId member : ours) {
    if (!fold_->takes_part(member)) return false;
    shifted.push_back(fold_->shifted(member, 1));
  }
  const auto by = program::rank_in(program_.groups[other_id], shifted.front());
  if (!by) return false;
  const auto size = static_cast<std::uint32_t>(ours.size());
  bool turned = true;
  for (std::uint32_t i = 0; i < size && turned; ++i) turned = theirs[(i + *by) % size] == shifted[i];
  for (std::uint32_t index = 0; index < program_.collectives.size(); ++index) {
    const program::Collective& collective = program_.collectives[index];
    if (collective.group_slot != slot) continue;
    if (!turned)
      problem_ = described(collective, id) + ": those of the next of the " + alike_.name +
                 " are not its members in the same order";
    if (!turned || !collective_is_alike(index, id, other_id, *by)) return false;
  }
  return true;
}

bool Comparison::collective_is_alike(std::uint32_t index, GroupId id, GroupId other, std::uint32_t by) {
  problem_ = unfit_collective(machine_, program_, index, {id, other});
  if (!problem_.empty()) return false;
  const program::CollectiveCall a = lowerings_.call(index, id, 0), b = lowerings_.call(index, other, 0);
  if (a.lowering == b.lowering && program::algorithm_of(a).is_alike(a, b, by)) return true;
  std::uint32_t rank = 0;
  if (a.lowering == b.lowering) rank = program::first_unlike(program::algorithm_of(a), a, b, by).value_or(0);
  const DeviceId member = program_.groups[id].members[rank];
  problem_ = fmt::format("{}: {} and {}, which should be alike, do different things", described(*a.collective, id),
                         name(member), name(fold_->shifted(member, 1)));
  return false;
}

std::string Comparison::described(const program::Collective& collective, GroupId id) const {
  const std::vector<DeviceId>& members = program_.groups[id].members;
  return fmt::format("{} of {} B over {} and {} more by algorithm \"{}\"", program::name_of(collective.kind),
                     collective.bytes.value(), name(members.front()), members.size() - 1,
                     program::algorithm_of(collective.algorithm).name());
}

// Ways within the block come first: their links are those that are simulated.
bool Comparison::routes_are_alike() {
  AlikeRoutes routes(machine_, tables_, alike_.name, *fold_);
  std::vector<std::pair<DeviceId, DeviceId>> outside;
  bool alike = true;
  const Destinations destinations = destinations_of(lowerings_);
  std::vector<machine::NodeId> ends;
  for (const DeviceId device : fold_->devices()) {
    ends.clear();
    destinations(device, ends);
    std::sort(ends.begin(), ends.end());
    ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
    for (const DeviceId to : ends) {
      if (!fold_->is_simulated(to)) {
        outside.emplace_back(device, to);
      } else if (alike) {
        alike = routes.add(device, to);
      }
    }
  }
  for (std::size_t i = 0; i < outside.size() && alike; ++i) alike = routes.add(outside[i].first, outside[i].second);
  if (alike) routes.find_orders();
  problem_ = routes.problem();
  return alike;
}

/// What is wrong with a strategy's list; empty: nothing.
std::string list_problem(const program::AlikeParts& alike, std::size_t devices) {
  std::vector<bool> known(devices, false);
  for (const std::vector<DeviceId>& part : alike.parts) {
    if (part.size() != alike.parts.front().size())
      return fmt::format("the strategy's {} have not all as many devices", alike.name);
    for (const DeviceId device : part) {
      if (device >= devices || known[device])
        return fmt::format("device {} of the strategy's {} does not exist, or is in two", device, alike.name);
      known[device] = true;
    }
  }
  return {};
}

}  // namespace

FoundFold find_fold(const machine::Machine& machine, program::Lowerings& lowerings, const NetworkTables& tables,
                    const program::AlikeParts& alike, FoldWays ways) {
  const program::Program& program = lowerings.program();
  const auto parts = static_cast<std::uint32_t>(alike.parts.size());
  if (!program.kernels.empty()) return {nullptr, "kernels at transaction level are not folded"};
  if (std::string problem = list_problem(alike, program.devices.size()); !problem.empty())
    return {nullptr, std::move(problem)};
  if (std::string problem = group_in_different_slots(machine, program); !problem.empty())
    return {nullptr, std::move(problem)};
  std::string problem;  // of the smallest block
  for (std::uint32_t block = 1; block < parts; ++block) {
    if (parts % block != 0) continue;
    FoundFold found = Comparison(machine, lowerings, tables, alike, block).find();
    if (found.fold) return found;
    if (problem.empty()) problem = std::move(found.problem);
    if (ways == FoldWays::shifts) continue;
    if (auto by_ends = find_fold_by_ends(machine, lowerings, tables, alike, block)) return {std::move(by_ends), {}};
  }
  return {nullptr, std::move(problem)};
}

}  // namespace tessera::sim
