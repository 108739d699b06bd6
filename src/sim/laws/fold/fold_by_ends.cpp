#include "sim/laws/fold/fold_by_ends.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>

#include "sim/laws/fold/own_ways.hpp"
#include "sim/laws/fold/unlike.hpp"
#include "tessera/program/group_rank.hpp"

namespace tessera::sim {
namespace {

using program::DeviceId;
using program::GroupId;

class EndsComparison {
 public:
  EndsComparison(const machine::Machine& machine, program::Lowerings& lowerings, const NetworkTables& tables,
                 const program::AlikeParts& alike, std::uint32_t block)
      : machine_(machine),
        lowerings_(lowerings),
        program_(lowerings.program()),
        fold_(std::make_unique<Fold>(program_, alike, tables, block, true)),
        ways_(tables, *fold_) {
    for (const program::Collective& collective : program_.collectives) slots_.insert(collective.group_slot);
  }

  std::unique_ptr<Fold> find() {
    if (!devices_are_alike() || !groups_are_alike() || !ways_are_alike()) return nullptr;
    return std::move(fold_);
  }

 private:
  struct Seat {
    GroupId group = program::no_group;
    std::uint32_t rank = 0;
  };

  bool devices_are_alike() const;
  [[nodiscard]] bool peers_are_alike(DeviceId device, DeviceId other) const;
  bool groups_are_alike();
  bool seat_is_like(std::uint32_t slot, const Seat& ours, const Seat& theirs);
  [[nodiscard]] bool members_are_alike(const Seat& ours, const Seat& theirs) const;
  bool ways_are_alike();
  bool messages_are_alike(DeviceId device);
  [[nodiscard]] std::optional<std::size_t> slot_back(DeviceId device, std::size_t slot) const;
  bool collectives_are_alike(DeviceId device, std::uint32_t slot);
  [[nodiscard]] std::set<std::uint32_t> steps_ahead(std::uint32_t slot, const Seat& own);
  [[nodiscard]] Seat seat(DeviceId device, std::uint32_t slot) const;
  [[nodiscard]] bool has_program(DeviceId device) const { return !program_.devices[device].streams.empty(); }
  [[nodiscard]] DeviceId member(const Seat& seat, std::uint32_t ahead) const {
    const std::vector<DeviceId>& members = program_.groups[seat.group].members;
    return members[(seat.rank + ahead) % members.size()];
  }

  const machine::Machine& machine_;
  program::Lowerings& lowerings_;
  const program::Program& program_;
  std::unique_ptr<Fold> fold_;
  OwnWays ways_;
  std::set<std::uint32_t> slots_;  // in which groups carry out collectives
  // Groups that are alike, by how many ranks, and in which slot.
  std::set<std::tuple<GroupId, GroupId, std::uint32_t, std::uint32_t>> known_;
};

EndsComparison::Seat EndsComparison::seat(DeviceId device, std::uint32_t slot) const {
  const std::vector<GroupId>& groups = program_.devices[device].groups;
  if (slot >= groups.size() || groups[slot] == program::no_group) return {};
  const auto rank = program::rank_in(program_.groups[groups[slot]], device);
  return rank ? Seat{groups[slot], *rank} : Seat{};
}

bool EndsComparison::devices_are_alike() const {
  for (DeviceId device = 0; device < program_.devices.size(); ++device) {
    if (!fold_->takes_part(device)) {
      if (has_program(device)) return false;
      continue;
    }
    // Nobody is simulated for a device that does nothing but one that does nothing.
    const DeviceId simulated = fold_->place(device).of;
    if (simulated == device) continue;
    if (!unlike_devices(machine_, program_, simulated, device).empty() || !peers_are_alike(simulated, device))
      return false;
  }
  return true;
}

// Of two slots with the same peer, the other device has the same one in both, too: by a sender's name it is told in
// which slot the receiver has it.
bool EndsComparison::peers_are_alike(DeviceId device, DeviceId other) const {
  const std::vector<DeviceId>&ours = program_.devices[device].peers, &theirs = program_.devices[other].peers;
  if (ours.size() != theirs.size()) return false;
  for (std::size_t slot = 0; slot < ours.size(); ++slot) {
    if (ours[slot] == program::no_device || theirs[slot] == program::no_device) {
      if (ours[slot] != theirs[slot]) return false;
      continue;
    }
    if (!fold_->takes_part(ours[slot]) || !fold_->takes_part(theirs[slot])) return false;
    if (fold_->place(ours[slot]).of != fold_->place(theirs[slot]).of) return false;
    if ((ours[slot] == device) != (theirs[slot] == other)) return false;
    const auto first = [slot](const std::vector<DeviceId>& peers) {
      return std::ranges::find(peers, peers[slot]) - peers.begin();
    };
    if (first(ours) != first(theirs)) return false;
  }
  return true;
}

bool EndsComparison::groups_are_alike() {
  for (const DeviceId device : fold_->devices()) {
    if (!has_program(device)) continue;
    for (const std::uint32_t slot : slots_) {
      const Seat ours = seat(device, slot);
      for (std::uint32_t times = 1; times < fold_->order(); ++times)
        if (!seat_is_like(slot, ours, seat(fold_->shifted(device, times), slot))) return false;
    }
  }
  return true;
}

bool EndsComparison::seat_is_like(std::uint32_t slot, const Seat& ours, const Seat& theirs) {
  if (ours.group == program::no_group || theirs.group == program::no_group) return ours.group == theirs.group;
  const std::size_t members = program_.groups[ours.group].members.size();
  if (members != program_.groups[theirs.group].members.size()) return false;
  const auto by = static_cast<std::uint32_t>((theirs.rank + members - ours.rank) % members);
  if (!known_.insert({ours.group, theirs.group, by, slot}).second) return true;
  if (!members_are_alike(ours, theirs)) return false;
  for (std::uint32_t index = 0; index < program_.collectives.size(); ++index) {
    if (program_.collectives[index].group_slot != slot) continue;
    if (!unfit_collective(machine_, program_, index, {ours.group, theirs.group}).empty()) return false;
    const program::CollectiveCall a = lowerings_.call(index, ours.group, 0),
                                  b = lowerings_.call(index, theirs.group, 0);
    if (a.lowering != b.lowering || !program::algorithm_of(a).is_alike(a, b, by)) return false;
  }
  return true;
}

// As many ranks further on, those for whom the same devices are simulated.
bool EndsComparison::members_are_alike(const Seat& ours, const Seat& theirs) const {
  const auto members = static_cast<std::uint32_t>(program_.groups[ours.group].members.size());
  for (std::uint32_t ahead = 0; ahead < members; ++ahead) {
    const DeviceId a = member(ours, ahead), b = member(theirs, ahead);
    if (!fold_->takes_part(a) || !fold_->takes_part(b) || fold_->place(a).of != fold_->place(b).of) return false;
  }
  return true;
}

bool EndsComparison::ways_are_alike() {
  for (const DeviceId device : fold_->devices()) {
    if (!has_program(device)) continue;
    if (!messages_are_alike(device)) return false;
    for (const std::uint32_t slot : slots_)
      if (!collectives_are_alike(device, slot)) return false;
  }
  return ways_.finish();
}

// In which slot the peer of a slot has the device.
std::optional<std::size_t> EndsComparison::slot_back(DeviceId device, std::size_t slot) const {
  const std::vector<DeviceId>& peers = program_.devices[program_.devices[device].peers[slot]].peers;
  const auto found = std::ranges::find(peers, device);
  if (found == peers.end()) return std::nullopt;
  return static_cast<std::size_t>(found - peers.begin());
}

// A receiver is told by the sender's name, so all copies have it in the same slot.
bool EndsComparison::messages_are_alike(DeviceId device) {
  const std::vector<DeviceId>& peers = program_.devices[device].peers;
  for (std::size_t slot = 0; slot < peers.size(); ++slot) {
    if (peers[slot] == program::no_device || peers[slot] == device) continue;
    const std::optional<std::size_t> back = slot_back(device, slot);
    if (!back) return false;
    for (std::uint32_t times = 1; times < fold_->order(); ++times)
      if (slot_back(fold_->shifted(device, times), slot) != back) return false;
    const auto peer_of = [&](DeviceId other) { return program_.devices[other].peers[slot]; };
    if (!ways_.add(device, peer_of)) return false;
  }
  return true;
}

bool EndsComparison::collectives_are_alike(DeviceId device, std::uint32_t slot) {
  const Seat own = seat(device, slot);
  if (own.group == program::no_group) return true;
  for (const std::uint32_t ahead : steps_ahead(slot, own)) {
    const auto receiver_of = [&](DeviceId other) { return member(seat(other, slot), ahead); };
    if (!ways_.add(device, receiver_of)) return false;
  }
  return true;
}

// By how many ranks those whom a member sends to are further on.
std::set<std::uint32_t> EndsComparison::steps_ahead(std::uint32_t slot, const Seat& own) {
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t index = 0; index < program_.collectives.size(); ++index) {
    if (program_.collectives[index].group_slot != slot) continue;
    const program::CollectiveCall call = lowerings_.call(index, own.group, own.rank);
    program::algorithm_of(call).destinations(call, ranks);
  }
  const auto members = static_cast<std::uint32_t>(program_.groups[own.group].members.size());
  std::set<std::uint32_t> ahead;
  for (const std::uint32_t rank : ranks) ahead.insert((rank + members - own.rank) % members);
  ahead.erase(0);
  return ahead;
}

}  // namespace

std::unique_ptr<Fold> find_fold_by_ends(const machine::Machine& machine, program::Lowerings& lowerings,
                                        const NetworkTables& tables, const program::AlikeParts& alike,
                                        std::uint32_t block) {
  return EndsComparison(machine, lowerings, tables, alike, block).find();
}

}  // namespace tessera::sim
