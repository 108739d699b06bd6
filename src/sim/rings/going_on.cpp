// Rings of folded replicas that go on where all replicas are simulated (sim/fold).
#include <algorithm>
#include <utility>

#include "sim/fold/fold.hpp"
#include "sim/rings/ring.hpp"
#include "tessera/base/error.hpp"
#include "tessera/program/group_rank.hpp"

namespace tessera::sim {

/// A ring, and one of those that it stands for.
struct RingLaws::GoingOn {
  const Ring& before;
  const std::vector<program::DeviceId>& members;  ///< by place there
  const Fold& fold;
  std::uint32_t times;  ///< shifts from one to the other
  Ring& ring;
  const program::Group& group;

  /// Here, of a place there.
  [[nodiscard]] std::uint32_t rank(std::uint32_t place) const {
    const auto found = program::rank_in(group, fold.shifted(members[place], times));
    if (!found) throw InternalError("a group goes on as one that is not like it");
    return *found;
  }
};

// act(going on) for each ring that one stands for, and for one that spans the replicas for each shift.
template <class Act>
void RingLaws::for_all_like(const Ring& before, const Fold& fold, Act&& act) {
  const std::vector<program::Group>& groups = lowerings_->program().groups;
  std::vector<program::DeviceId> members = groups[before.group].members;
  if (!before.places.empty()) {
    members.clear();
    for (const std::uint32_t rank : before.simulated()) members.push_back(groups[before.group].members[rank]);
  }
  for (std::uint32_t times = 0; times < fold.order(); ++times) {
    const program::GroupId group = fold.shifted_group(before.group, times);
    act(GoingOn{before, members, fold, times, ring_at(group), groups[group]});
  }
}

// Where nobody is in a collective, a group begins as if it had carried out none.
void RingLaws::go_on_from(const RingLaws& other, const std::vector<bool>& is_in) {
  for (program::GroupId group = 0; group < is_in.size(); ++group) {
    const Ring* before = other.rings_[group].get();
    if (before == nullptr || (!is_in[group] && before->runs.empty())) continue;
    // Perhaps they are in one that the other one did not take and this one would.
    const bool is_known = !before->has_others || !is_in[group];
    for_all_like(*before, *other.fold_, [&](const GoingOn& one) {
      one.ring.is_usable = one.ring.is_usable && before->is_usable && is_known;
      if (one.ring.is_usable) go_on_from(one);
    });
  }
}

void RingLaws::go_on_from(const GoingOn& one) {
  for (std::uint32_t place = 0; place < one.before.size; ++place) {
    const std::uint32_t rank = one.ring.place(one.rank(place));
    if (rank == nobody) continue;  // on another rank
    one.ring.begun[rank] = one.before.begun[place];
    one.ring.left[rank] = one.before.left[place];
  }
  one.ring.first = one.before.first;
  one.ring.runs.clear();
  for (const Run& run : one.before.runs) {
    const std::uint32_t number = one.ring.first + static_cast<std::uint32_t>(one.ring.runs.size());
    Run& same = one.ring.runs.emplace_back();
    same.index = run.index;
    const auto are_behind = [number](const std::vector<std::uint32_t>& members) {
      return std::ranges::count_if(members, [number](std::uint32_t next) { return next > number; });
    };
    same.entered = static_cast<std::uint32_t>(are_behind(one.ring.begun));
    same.left = static_cast<std::uint32_t>(are_behind(one.ring.left));
  }
}

bool RingLaws::can_go_on(const Ring& before, const Fold& fold) {
  if (before.runs.empty() || before.has_others) return false;
  bool can = true;
  for_all_like(before, fold, [&](const GoingOn& one) {
    const auto is_here = [this](program::DeviceId member) { return parts_->members[member] != nullptr; };
    const bool is_known = one.times > 0 && one.ring.group == before.group;
    if (is_known || std::ranges::none_of(one.group.members, is_here)) return;
    for (const Run& run : before.runs) can = can && !one.ring.is_part && work_of(one.ring, run.index).track != nullptr;
  });
  return can;
}

bool RingLaws::join(const RingLaws& other, Time now) {
  bool is_free = true;
  for (const std::unique_ptr<Ring>& before : other.rings_) {
    if (before == nullptr || !before->is_reserved()) continue;
    for_all_like(*before, *other.fold_, [&](const GoingOn& one) {
      if (parts_->members[one.group.members.front()] != nullptr) is_free = join(one, now) && is_free;
    });
  }
  return is_free;
}

bool RingLaws::join(const GoingOn& one, Time now) {
  Ring& ring = one.ring;
  Track& track = *work_of(ring, one.before.runs.front().index).track;
  if (track.owner != nullptr && track.owner != &ring && !track.owner->runs.empty()) return false;
  track.owner = &ring;
  ring.track = &track;
  for (std::size_t number = 0; number < ring.runs.size(); ++number) {
    const Run& before = one.before.runs[number];
    Run& run = ring.runs[number];
    run.is_law = true;
    run.work = &work_of(ring, run.index).work;
    run.waited_until = before.waited_until;
    run.entries.resize(ring.size);
    run.members.resize(ring.size);
    run.senders.resize(track.parts.shape.ways());
    run.ends.resize(before.ends.empty() ? 0 : ring.size);
  }
  for (std::uint32_t place = 0; place < one.before.size; ++place)
    if (!join_member(one, place, now)) return false;
  return true;
}

bool RingLaws::join_member(const GoingOn& one, std::uint32_t place, Time now) {
  const std::uint32_t rank = one.rank(place);
  const auto renamed = [&one](Moment moment) {
    if (one.fold.takes_part(moment.source)) moment.source = one.fold.shifted(moment.source, one.times);
    return moment;
  };
  for (std::size_t number = 0; number < one.ring.runs.size(); ++number) {
    const Run& before = one.before.runs[number];
    Run& run = one.ring.runs[number];
    run.entries[rank] = {renamed(before.entries[place].at), before.entries[place].joined};
    run.members[rank] = before.members[place];
    if (before.ends.empty()) continue;
    run.ends[rank] = before.ends[place];
    run.ends[rank].at = renamed(before.ends[place].at);
  }
  const Track& theirs = *one.before.track;
  Track& track = *one.ring.track;
  for (std::uint32_t way = place; way < theirs.parts.shape.ways(); way += one.before.size) {
    const std::uint32_t here = way / one.before.size * one.ring.size + rank;
    for (std::size_t number = 0; number < one.ring.runs.size(); ++number)
      one.ring.runs[number].senders[here] = one.before.runs[number].senders[way];
    track.parts.paths[here].go_on_from(theirs.parts.paths[way]);
    if (theirs.is_reserved[way] && !reserve_for_join({&track, here}, now)) return false;
    track.is_reserved[here] = theirs.is_reserved[way];
  }
  return true;
}

bool RingLaws::reserve_for_join(const Reserved& reserved, Time now) {
  for (const machine::LinkId link : reserved.track->parts.paths[reserved.way].links()) {
    if (!free_up(link, now) || !port_at(link).is_empty(std::max<Time>(now - 1, 0))) return false;
    port_at(link).reserve();
    reserved_by_[link] = reserved;
  }
  return true;
}

}  // namespace tessera::sim
