#include "sim/rings/ring_walk.hpp"

#include <algorithm>

#include "tessera/base/error.hpp"
#include "tessera/program/collective.hpp"
#include "tessera/program/ring_order.hpp"

namespace tessera::sim {
namespace {

using program::CollectiveKind;

/// Chunks of a buffer: the first ones may be an element larger than the others.
struct Chunks {
  std::array<std::int64_t, 2> bytes{};  // of the larger kind, of the smaller one
  std::uint32_t larger = 0;             // how many

  Chunks(const RingWork& work, std::uint32_t members)
      : bytes{program::chunk_bytes(work.bytes, work.element, members, 0).value(),
              program::chunk_bytes(work.bytes, work.element, members, members - 1).value()},
        larger(static_cast<std::uint32_t>(work.bytes.value() / work.element.value() % members)) {}
  /// 0: larger.
  [[nodiscard]] std::uint32_t kind(std::uint32_t chunk) const { return chunk < larger ? 0 : 1; }
};

/// A step of all members.
struct StepOrder {
  std::uint32_t index = 0;  // in its pass
  bool sums_up = false;

  StepOrder(const RingWork& work, std::uint32_t members, std::uint32_t step) {
    const bool first_pass = step < members - 1;
    sums_up = work.kind != CollectiveKind::all_gather && first_pass;
    index = first_pass ? step : step - (members - 1);
  }
};

/// Goes through the steps of all members side by side.
class Walk {
 public:
  Walk(RingParts& parts, const RingWork& work, const std::vector<RingEntry>& entries)
      : parts_(parts),
        work_(work),
        members_(static_cast<std::uint32_t>(parts.members.size())),
        chunks_(work, members_),
        delivered_(members_),
        kinds_(members_, 1) {
    at_.reserve(members_);
    sizes_.reserve(members_);
    for (const RingEntry& entry : entries) at_.push_back(entry.at);
    for (RingPath& path : parts.paths) {
      sizes_.push_back({path.facts().size_of(chunks_.bytes[0]), path.facts().size_of(chunks_.bytes[1])});
    }
  }

  [[nodiscard]] std::uint32_t members() const { return members_; }
  [[nodiscard]] const Moment& at(std::uint32_t member) const { return at_[member]; }
  [[nodiscard]] Time& delivered(std::uint32_t member) { return delivered_[member]; }

  void begin_step(std::uint32_t step) {
    order_ = StepOrder(work_, members_, step);
    if (chunks_.larger == 0) return;
    for (std::uint32_t member = 0; member < members_; ++member)
      kinds_[member] = chunks_.kind(program::ring_chunk(member, members_, order_.index, order_.sums_up));
  }
  /// The number of the size of what a member sends.
  [[nodiscard]] std::uint32_t size(std::uint32_t member) const { return sizes_[member][kinds_[member]]; }

  /// What it waits for comes at delivered(from); at() is then when it has come.
  void receive(std::uint32_t member, std::uint32_t from) {
    Moment& at = at_[member];
    const Moment arrival{delivered_[from], parts_.hops[member]};
    if (at < arrival) at = arrival;
  }
  /// Adding what came.
  [[nodiscard]] Time addition(std::uint32_t member, std::uint32_t from) const {
    return work_.additions[member][order_.sums_up ? kinds_[from] : 2];
  }
  void add(std::uint32_t member, std::uint32_t from) {
    const Time time = addition(member, from);
    if (time > 0) at_[member] = {at_[member].time + time, parts_.members[member]};
  }
  void wait_for_ever(std::uint32_t member) { at_[member] = {never, 0}; }

 private:
  RingParts& parts_;
  const RingWork& work_;
  std::uint32_t members_;
  Chunks chunks_;
  StepOrder order_{{}, 1, 0};
  std::vector<Moment> at_;  // by member: when it posts the step, or has received it
  std::vector<Time> delivered_;
  std::vector<std::uint32_t> kinds_;  // of the chunk that a member sends
  std::vector<std::array<std::uint32_t, 2>> sizes_;
};

}  // namespace

bool ends_in_range(const RingParts& parts, const RingWork& work, const std::vector<RingEntry>& entries) {
  try {
    Time step = 0, end = 0;
    const Chunks chunks(work, static_cast<std::uint32_t>(parts.members.size()));
    for (const RingPath& path : parts.paths) {
      for (const std::int64_t bytes : chunks.bytes) {
        const LonePassage& lone = path.facts().lone(path.facts().size_of(bytes));
        step = std::max({step, lone.delivered, lone.clear});
        if (step == never) return false;
      }
      end = std::max(end, path.clear_at());
    }
    Time most = 0;
    for (const auto& times : work.additions) most = std::max({most, times[0], times[1], times[2]});
    for (const RingEntry& entry : entries) end = std::max(end, entry.at.time);
    end = time_after(end, repeated(2 * std::int64_t{work.steps}, time_after(step, most)));
    return end < latest / 2;
  } catch (const BeyondTimeError&) {
    return false;
  }
}

std::vector<RingEnd> ends_of(RingParts& parts, const RingWork& work, const std::vector<RingEntry>& entries) {
  Walk walk(parts, work, entries);
  const std::uint32_t members = walk.members();
  std::vector<RingEnd> ends(members);
  for (std::uint32_t step = 0; step < work.steps; ++step) {
    walk.begin_step(step);
    for (std::uint32_t i = 0; i < members; ++i) walk.delivered(i) = parts.paths[i].send(walk.at(i).time, walk.size(i));
    const bool last = step + 1 == work.steps;
    for (std::uint32_t i = 0, from = members - 1; i < members; from = i++) {
      walk.receive(i, from);
      if (last) {
        ends[i] = {walk.at(i), walk.at(i).time + walk.addition(i, from), parts.paths[i].left()};
      } else {
        walk.add(i, from);
      }
    }
  }
  return ends;
}

std::vector<RingStanding> standings_at(const Moment& end, RingParts& parts, const RingWork& work,
                                       const std::vector<RingEntry>& entries) {
  Walk walk(parts, work, entries);
  const std::uint32_t members = walk.members();
  std::vector<RingStanding> standings(members);
  std::vector<Time> told(members);                   // what a member's message of the step says
  std::vector<char> posts(members), comes(members);  // in the step, before the end
  for (std::uint32_t i = 0; i < members; ++i) standings[i].waited_until = entries[i].joined;
  for (std::uint32_t step = 0; step < work.steps; ++step) {
    walk.begin_step(step);
    for (std::uint32_t i = 0; i < members; ++i) {
      posts[i] = step == 0 ? entries[i].at.time != never : walk.at(i) < end;
      comes[i] = false;
      if (!posts[i]) continue;
      RingStanding& standing = standings[i];
      ++standing.posted;
      told[i] = standing.waited_until;
      const std::uint32_t to = i + 1 == members ? 0 : i + 1;
      walk.delivered(i) = parts.paths[i].send_until(walk.at(i).time, walk.size(i), end.time);
      comes[i] = Moment{walk.delivered(i), parts.hops[to]} < end;
      if (!comes[i]) standing.on_their_way.push_back(told[i]);
    }
    for (std::uint32_t i = 0, from = members - 1; i < members; from = i++) {
      RingStanding& standing = standings[i];
      if (!posts[i] && comes[from]) standing.early.push_back(told[from]);
      if (posts[i] && comes[from]) {
        standing.waited_until = std::max(standing.waited_until, told[from]);
        ++standing.taken;
        walk.receive(i, from);
        if (step + 1 < work.steps) walk.add(i, from);
        standing.next = walk.at(i);
      } else {
        walk.wait_for_ever(i);
      }
    }
  }
  return standings;
}

std::int64_t bytes_sent(const RingWork& work, std::uint32_t members, std::uint32_t member, std::uint32_t steps) {
  const Chunks chunks(work, members);
  std::int64_t bytes = 0;
  for (std::uint32_t step = 0; step < steps; ++step) {
    const StepOrder order(work, members, step);
    bytes += chunks.bytes[chunks.kind(program::ring_chunk(member, members, order.index, order.sums_up))];
  }
  return bytes;
}

std::int64_t bytes_added(const RingWork& work, std::uint32_t members, std::uint32_t member, std::uint32_t step) {
  const StepOrder order(work, members, step);
  if (!order.sums_up) return 0;
  const Chunks chunks(work, members);
  const std::uint32_t sent = program::ring_chunk(member, members, order.index, true);
  return chunks.bytes[chunks.kind(program::before_in_circle(sent, members))];
}

}  // namespace tessera::sim
