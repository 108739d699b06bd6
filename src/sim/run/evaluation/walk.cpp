#include "walk.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <optional>
#include <utility>

namespace tessera::sim {
namespace {

using program::DeviceId;
using program::GroupId;
using program::Instruction;
using program::Op;

/// What a block does where it meets nobody.
struct Alone {
  explicit Alone(std::size_t activities) : busy(activities, 0) {}
  Time time = 0;
  std::vector<Time> busy;  // by activity

  void add(const Alone& other, std::int64_t times) {
    time = saturating_add(time, saturating_times(times, other.time));
    for (std::size_t i = 0; i < busy.size(); ++i)
      busy[i] = saturating_add(busy[i], saturating_times(times, other.busy[i]));
  }
};

/// Blocks that compute, hold memory and call collectives in groups of one alone, each summed once, on devices of one
/// speed and with the same such groups.
class AloneBlocks {
 public:
  AloneBlocks(const program::Program& program, CostTable& costs, const WalkRules& rules, std::vector<GroupId> groups)
      : program_(program), costs_(costs), rules_(rules), groups_(std::move(groups)), known_(program.blocks.size()) {}

  /// By slot, those in which a device is alone; no_group for the others.
  static std::vector<GroupId> groups_of_one(const program::Program& program, const program::DeviceProgram& device) {
    std::vector<GroupId> groups;
    for (const GroupId group : device.groups) {
      const bool is_alone = group < program.groups.size() && program.groups[group].members.size() == 1;
      groups.push_back(is_alone ? group : program::no_group);
    }
    return groups;
  }

  [[nodiscard]] const CostTable& costs() const { return costs_; }
  /// Null: it meets somebody.
  const Alone* find(program::BlockId block) {
    if (!known_[block]) known_[block] = make(block);
    const auto& found = *known_[block];
    return found ? &*found : nullptr;
  }

 private:
  std::optional<Alone> make(program::BlockId block) {
    Alone sum(program::activities_of(program_));
    for (const Instruction& one : program_.blocks[block].code) {
      switch (one.op) {
        case Op::compute:
          sum.add(computed(one), 1);
          break;
        case Op::allocate:
        case Op::release:
          break;
        case Op::call:
          if (const Alone* inner = find(one.a); inner != nullptr) {
            sum.add(*inner, one.count);
            break;
          }
          return std::nullopt;
        case Op::collective: {
          const GroupId group = groups_[program_.collectives[one.a].group_slot];
          if (group == program::no_group) return std::nullopt;
          sum.time = saturating_add(sum.time, rules_.collective(one.a, group));
          break;
        }
        default:
          return std::nullopt;
      }
    }
    return sum;
  }
  [[nodiscard]] Alone computed(const Instruction& one) const {
    Alone found(program::activities_of(program_));
    found.time = saturating_times(one.count, costs_.of(one.a));
    found.busy[static_cast<std::size_t>(one.activity)] = found.time;
    return found;
  }

  const program::Program& program_;
  CostTable& costs_;
  const WalkRules& rules_;
  std::vector<GroupId> groups_;  // by slot
  std::vector<std::optional<std::optional<Alone>>> known_;
};

struct Frame {
  program::BlockId block = 0;
  std::uint32_t next = 0;  ///< instruction
  std::uint32_t left = 1;  ///< runs of the block, this one included
};

struct Stream {
  DeviceId device = 0;
  Time clock = 0, sent = 0;  ///< when it is, and when all that it sent has left
  std::vector<Frame> frames;
};

/// Messages of one sender, receiver and channel.
struct Channel {
  std::deque<Time> arrivals;
  int waiting = -1;  ///< stream
};

/// Members of a group that wait for the others.
struct Meeting {
  Time latest = 0;
  std::vector<int> streams;
};

struct Event {
  std::deque<std::pair<Time, std::int64_t>> raised;   ///< when and how often, sorted; without those of `forgotten`
  std::int64_t taken = 0, forgotten = 0, known = 0;   ///< times; known: in `raised`
  std::vector<std::pair<std::int64_t, int>> waiting;  ///< for which count, stream

  [[nodiscard]] std::optional<Time> time_of(std::int64_t count) const {
    count -= forgotten;
    if (count > known) return std::nullopt;
    for (const auto& [time, times] : raised) {
      count -= times;
      if (count <= 0) return time;
    }
    return std::nullopt;
  }
  /// What was taken is not looked at again.
  void forget() {
    while (!raised.empty() && forgotten + raised.front().second <= taken) {
      forgotten += raised.front().second;
      known -= raised.front().second;
      raised.pop_front();
    }
  }
};

class Walk {
 public:
  Walk(const std::vector<machine::KindAndSpeed>& devices, const program::Program& program, CostTables& costs,
       const WalkRules& rules)
      : program_(program),
        rules_(rules),
        collectives_(program.groups.size()),
        kernels_(program.groups.size()),
        events_(program.devices.size()),
        alone_of_(program.devices.size(), nullptr),
        activities_(program::activities_of(program)),
        busy_(program.devices.size() * activities_, 0) {
    std::map<std::pair<machine::KindAndSpeed, std::vector<GroupId>>, AloneBlocks*> tables;
    for (DeviceId device = 0; device < program.devices.size(); ++device) {
      const program::DeviceProgram& bound = program.devices[device];
      if (bound.streams.empty()) continue;
      const std::vector<GroupId> groups = AloneBlocks::groups_of_one(program, bound);
      const auto [known, added] = tables.try_emplace({devices[device], groups}, nullptr);
      if (added) known->second = &tables_.emplace_back(program, costs.of(devices[device]), rules, groups);
      alone_of_[device] = known->second;
      events_[device].resize(bound.events);
      for (const program::BlockId entry : bound.streams) {
        ready_.push_back(static_cast<int>(streams_.size()));
        streams_.push_back({device, 0, 0, {{entry, 0, 1}}});
      }
    }
  }

  Walked run() {
    while (!ready_.empty()) {
      const int stream = ready_.back();
      ready_.pop_back();
      advance(stream);
    }
    Walked walked;
    walked.busy = std::move(busy_);
    for (const Stream& stream : streams_) {
      walked.ended = walked.ended && stream.frames.empty();
      walked.time = std::max(walked.time, stream.clock);
    }
    for (std::size_t device = 0; device < program_.devices.size(); ++device) {
      Time computed = 0;  // one operator at a time
      for (std::size_t i = 0; i < activities_; ++i)
        computed = saturating_add(computed, walked.busy[device * activities_ + i]);
      walked.time = std::max(walked.time, computed);
    }
    return walked;
  }

 private:
  /// Until it waits or ends.
  void advance(int index) {
    Stream& stream = streams_[static_cast<std::size_t>(index)];
    while (!stream.frames.empty()) {
      Frame& frame = stream.frames.back();
      const std::vector<Instruction>& code = program_.blocks[frame.block].code;
      if (frame.next == code.size()) {
        frame.next = 0;
        if (--frame.left == 0) stream.frames.pop_back();
        continue;
      }
      // An instruction that waits is over when the stream goes on.
      if (!carry_out(index, stream, code[frame.next++])) return;
    }
  }

  /// False: the stream waits.
  bool carry_out(int index, Stream& stream, const Instruction& one) {
    const program::DeviceProgram& bound = program_.devices[stream.device];
    switch (one.op) {
      case Op::compute:
        compute(stream, one.activity, saturating_times(one.count, costs(stream, one)));
        return true;
      case Op::call:
        call(stream, one);
        return true;
      case Op::send:
        send(stream, bound.peers[one.a], one);
        return true;
      case Op::receive:
        return receive(index, stream, channel(bound.peers[one.a], stream.device, one.b));
      case Op::wait_sends:
        stream.clock = std::max(stream.clock, stream.sent);
        return true;
      case Op::collective: {
        const program::GroupId group = bound.groups[program_.collectives[one.a].group_slot];
        if (!rules_.joins(one.a, group)) {
          stream.clock = saturating_add(stream.clock, rules_.collective(one.a, group));
          return true;
        }
        return meet(index, stream, collectives_[group], group, [&] { return rules_.collective(one.a, group); });
      }
      case Op::kernel: {
        const program::GroupId group = bound.groups[program_.kernels[one.a].group_slot];
        if (!rules_.kernel_joins(one.a, group)) {
          stream.clock = saturating_add(stream.clock, rules_.kernel(one.a, group));
          return true;
        }
        return meet(index, stream, kernels_[group], group, [&] { return rules_.kernel(one.a, group); });
      }
      case Op::signal:
        raise(events_[stream.device][one.a], stream.clock, one.count);
        return true;
      case Op::wait:
        return !rules_.events || wait(index, stream, events_[stream.device][one.a], one.count);
      default:  // memory takes no time
        return true;
    }
  }

  [[nodiscard]] Time costs(const Stream& stream, const Instruction& one) const {
    return alone_of_[stream.device]->costs().of(one.a);
  }

  void compute(Stream& stream, program::Activity activity, Time time) {
    stream.clock = saturating_add(stream.clock, time);
    is_busy(stream, activity, time);
  }

  void is_busy(const Stream& stream, program::Activity activity, Time time) {
    Time& busy = busy_[std::size_t{stream.device} * activities_ + static_cast<std::size_t>(activity)];
    busy = saturating_add(busy, time);
  }

  void call(Stream& stream, const Instruction& one) {
    if (one.count == 0) return;
    const Alone* alone = alone_of_[stream.device]->find(one.a);
    if (alone == nullptr) {
      stream.frames.push_back({one.a, 0, one.count});
      return;
    }
    stream.clock = saturating_add(stream.clock, saturating_times(one.count, alone->time));
    for (std::size_t i = 0; i < alone->busy.size(); ++i) {
      if (alone->busy[i] > 0)
        is_busy(stream, static_cast<program::Activity>(i), saturating_times(one.count, alone->busy[i]));
    }
  }

  [[nodiscard]] Channel& channel(DeviceId from, DeviceId to, std::uint32_t number) {
    return channels_[{from, to, number}];
  }

  void send(Stream& stream, DeviceId to, const Instruction& one) {
    const machine::Connection connection{stream.device, to, one.b};
    stream.sent = std::max(stream.sent, saturating_add(stream.clock, rules_.departure(connection, one.bytes)));
    Channel& way = channel(stream.device, to, one.b);
    way.arrivals.push_back(saturating_add(stream.clock, rules_.message(connection, one.bytes)));
    wake(way.waiting, way.arrivals.front());
    if (way.waiting >= 0) way.arrivals.pop_front();
    way.waiting = -1;
  }

  bool receive(int index, Stream& stream, Channel& way) {
    if (way.arrivals.empty()) {
      way.waiting = index;
      return false;
    }
    stream.clock = std::max(stream.clock, way.arrivals.front());
    way.arrivals.pop_front();
    return true;
  }

  /// The last member lets all go on.
  template <class Duration>
  bool meet(int index, Stream& stream, Meeting& meeting, program::GroupId group, const Duration& duration) {
    meeting.latest = std::max(meeting.latest, stream.clock);
    if (meeting.streams.size() + 1 < program_.groups[group].members.size()) {
      meeting.streams.push_back(index);
      return false;
    }
    const Time end = saturating_add(meeting.latest, duration());
    for (const int waiting : meeting.streams) wake(waiting, end);
    meeting = {};
    stream.clock = end;
    return true;
  }

  void raise(Event& event, Time time, std::uint32_t count) {
    const std::pair<Time, std::int64_t> raised{time, count};
    event.raised.insert(std::upper_bound(event.raised.begin(), event.raised.end(), raised), raised);
    event.known += count;
    std::erase_if(event.waiting, [&](const auto& one) {
      const auto at = event.time_of(one.first);
      if (at) wake(one.second, *at);
      return at.has_value();
    });
    if (event.waiting.empty()) event.forget();
  }

  bool wait(int index, Stream& stream, Event& event, std::uint32_t count) {
    event.taken += count;
    const auto at = event.time_of(event.taken);
    if (at) {
      stream.clock = std::max(stream.clock, *at);
      event.forget();
    } else {
      event.waiting.emplace_back(event.taken, index);
    }
    return at.has_value();
  }

  void wake(int index, Time time) {
    if (index < 0) return;
    Stream& stream = streams_[static_cast<std::size_t>(index)];
    stream.clock = std::max(stream.clock, time);
    ready_.push_back(index);
  }

  const program::Program& program_;
  const WalkRules& rules_;
  std::deque<AloneBlocks> tables_;  // which stay where they are
  std::vector<Stream> streams_;
  std::vector<int> ready_;
  std::map<std::array<std::uint32_t, 3>, Channel> channels_;  // by sender, receiver, number
  std::vector<Meeting> collectives_, kernels_;                // by group
  std::vector<std::vector<Event>> events_;                    // by device
  std::vector<AloneBlocks*> alone_of_;                        // by device
  std::size_t activities_;
  std::vector<Time> busy_;
};

}  // namespace

std::vector<machine::KindAndSpeed> kinds_and_speeds(const machine::Machine& machine) {
  std::vector<machine::KindAndSpeed> all;
  for (machine::NodeId device = 0; device < machine.devices(); ++device) all.push_back(machine.kind_and_speed(device));
  return all;
}

Walked walk(const std::vector<machine::KindAndSpeed>& devices, const program::Program& program, CostTables& costs,
            const WalkRules& rules) {
  return Walk(devices, program, costs, rules).run();
}

}  // namespace tessera::sim
