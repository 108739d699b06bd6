// Walks each block once, as Device would (device_instructions.cpp); repeats follow in closed form.
#include "tessera/sim/run/stream_volume.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <vector>

#include "sim/execution/stream.hpp"
#include "sim/laws/rings/ring_laws.hpp"
#include "tessera/program/collective.hpp"
#include "tessera/program/group_rank.hpp"

namespace tessera::sim {
namespace {

using program::Instruction;
using program::Op;

/// Messages that are in line at the same time: runs of posts that something breaks.
struct Posts {
  double first = 0, last = 0, most = 0;  ///< before the first break, behind the last one, in any run
  bool broken = false;

  static Posts of(double count) { return {count, count, count, false}; }
  static Posts breaks() { return {0, 0, 0, true}; }
  void append(const Posts& next) {
    most = std::max({most, next.most, last + next.first});
    if (!broken) first += next.first;
    last = next.broken ? next.last : last + next.last;
    broken = broken || next.broken;
  }
  [[nodiscard]] Posts repeated(double times) const {
    if (!broken) return of(times * first);
    return {first, last, times > 1 ? std::max(most, last + first) : most, true};
  }
};

/// A stretch of a stream. Whether its clock is ahead of simulated time when it begins decides what wakes it.
struct Stretch {
  struct Way {
    double wakes = 0;
    bool ahead = false;  ///< behind it
  };
  std::array<Way, 2> from = {Way{0, false}, Way{0, true}};
  double instructions = 0, intervals = 0, memory_changes = 0, ring_messages = 0;
  Posts posts;

  void append(const Stretch& next) {
    for (Way& way : from) {
      const Way& then = next.from[way.ahead];
      way = {way.wakes + then.wakes, then.ahead};
    }
    instructions += next.instructions;
    intervals += next.intervals;
    memory_changes += next.memory_changes;
    ring_messages += next.ring_messages;
    posts.append(next.posts);
  }
  [[nodiscard]] Stretch repeated(std::uint32_t times) const;
};

// Each pass begins as the one before has ended: from the second one on always alike, or alternating.
Stretch Stretch::repeated(std::uint32_t times) const {
  Stretch all;
  if (times == 0) return all;
  for (int begin = 0; begin < 2; ++begin) {
    const Way& once = from[begin];
    const Way& again = from[once.ahead];
    if (again.ahead == once.ahead || times == 1) {
      all.from[begin] = {once.wakes + (times - 1.0) * again.wakes, once.ahead};
    } else {
      const std::uint32_t pairs = times / 2;
      all.from[begin] = {(times - pairs) * once.wakes + pairs * again.wakes, times % 2 == 1 ? once.ahead : again.ahead};
    }
  }
  all.instructions = times * instructions;
  all.intervals = times * intervals;
  all.memory_changes = times * memory_changes;
  all.ring_messages = times * ring_messages;
  all.posts = posts.repeated(times);
  return all;
}

class Walker {
 public:
  Walker(program::Lowerings& lowerings, const ProgramFacts& facts, program::DeviceId device, bool most)
      : program_(lowerings.program()),
        lowerings_(lowerings),
        device_(device),
        bound_(program_.devices[device]),
        in_turn_(facts.shares_compute(bound_)),
        shares_cores_(facts.shares_cores(bound_)),
        shares_events_(facts.shares_events(bound_)),
        shares_memory_(facts.shares_memory(bound_)),
        most_(most),
        blocks_(program_.blocks.size()),
        collectives_(program_.collectives.size()) {}

  const Stretch& of(program::BlockId block) {
    if (blocks_[block]) return *blocks_[block];
    Stretch all;
    for (const Instruction& instruction : program_.blocks[block].code) {
      all.append(instruction.op == Op::call ? of(instruction.a).repeated(instruction.count) : of(instruction));
      ++all.instructions;
    }
    return blocks_[block].emplace(all);
  }

 private:
  /// Waits for the clock, then goes on at its time.
  static Stretch reach_clock() {
    Stretch stretch;
    stretch.from = {Stretch::Way{0, false}, Stretch::Way{1, false}};
    return stretch;
  }
  static Stretch ahead() {
    Stretch stretch;
    stretch.from = {Stretch::Way{0, true}, Stretch::Way{0, true}};
    return stretch;
  }
  /// Waits for others. Where they come first, the clock stays ahead.
  [[nodiscard]] Stretch waits() const {
    Stretch stretch;
    stretch.from = {Stretch::Way{0, false}, Stretch::Way{0, most_}};
    return stretch;
  }
  [[nodiscard]] Posts breaks() const { return most_ ? Posts{} : Posts::breaks(); }

  [[nodiscard]] Stretch compute(const Instruction& instruction) const;
  [[nodiscard]] Stretch departures() const;
  [[nodiscard]] Stretch of(const Instruction& instruction);
  [[nodiscard]] Stretch plainly(const Instruction& instruction);
  [[nodiscard]] const Stretch& collective(std::uint32_t index);
  [[nodiscard]] Stretch lowered(std::uint32_t index) const;

  const program::Program& program_;
  program::Lowerings& lowerings_;
  program::DeviceId device_;
  const program::DeviceProgram& bound_;
  bool in_turn_, shares_cores_, shares_events_, shares_memory_, most_;
  std::vector<std::optional<Stretch>> blocks_;
  std::vector<std::optional<Stretch>> collectives_;
};

Stretch Walker::compute(const Instruction& instruction) const {
  Stretch stretch = ahead();
  stretch.posts = breaks();
  stretch.intervals = 1;
  if (!in_turn_) return stretch;
  // Every operator waits for the one before.
  stretch.intervals = instruction.count;
  stretch.from[0].wakes = std::max(0.0, instruction.count - 1.0);
  stretch.from[1].wakes = instruction.count;
  return stretch;
}

/// Waits for messages to leave, which is an event of its own unless it is told otherwise.
Stretch Walker::departures() const {
  Stretch stretch;
  stretch.from = {Stretch::Way{most_ ? 1.0 : 0.0, false}, Stretch::Way{1.0, false}};
  stretch.posts = Posts::breaks();
  return stretch;
}

Stretch Walker::of(const Instruction& instruction) {
  // Where collectives slow operators down, whatever asks for the time waits until they are over. (A collective that
  // begins or ends beside them moves that.)
  const bool follows = instruction.op == Op::compute || instruction.op == Op::allocate || instruction.op == Op::release;
  Stretch stretch = shares_cores_ && !in_turn_ && !follows ? reach_clock() : Stretch{};
  stretch.append(plainly(instruction));
  return stretch;
}

Stretch Walker::plainly(const Instruction& instruction) {
  Stretch stretch;
  switch (instruction.op) {
    case Op::compute:
      return compute(instruction);
    case Op::send:
      stretch = reach_clock();
      stretch.intervals = 1;
      stretch.posts = Posts::of(1);
      return stretch;
    case Op::receive:
      stretch = waits();
      stretch.intervals = 2;
      stretch.posts = breaks();
      return stretch;
    case Op::wait_sends:
      stretch = reach_clock();
      stretch.append(departures());
      stretch.intervals = 1;
      return stretch;
    case Op::collective:
      return collective(instruction.a);
    case Op::signal:
      return reach_clock();
    case Op::wait:
      if (shares_events_) stretch = reach_clock();
      stretch.append(waits());
      stretch.intervals = 1;
      stretch.posts.append(breaks());
      return stretch;
    case Op::kernel:
      stretch = reach_clock();
      stretch.intervals = 3;
      stretch.posts = breaks();
      return stretch;
    case Op::allocate:
    case Op::release:
      if (shares_memory_) stretch = reach_clock();
      stretch.memory_changes = 1;
      return stretch;
    case Op::call:
    case Op::mark:
    case Op::end_phase:
      break;
  }
  return stretch;
}

/// What a member sends in all steps of a collective that goes round rings.
double ring_messages(const program::CollectiveCall& call) {
  static const std::uint32_t ring = program::algorithm_index("ring");
  const program::CollectiveAlgorithm& algorithm = program::algorithm_of(call);
  if (call.lowering.algorithm == ring) return static_cast<double>(call.lowering.rings) * algorithm.steps(call);
  double messages = 0;
  program::for_all_steps(algorithm, call, [&](const program::CollectiveCall&, const program::Step& step) {
    messages += static_cast<double>(step.sends.size());
  });
  return messages;
}

const Stretch& Walker::collective(std::uint32_t index) {
  if (!collectives_[index]) {
    Stretch stretch = lowered(index);
    stretch.intervals = 2;  // waiting for its members, then communication
    collectives_[index] = stretch;
  }
  return *collectives_[index];
}

Stretch Walker::lowered(std::uint32_t index) const {
  Stretch all;
  const program::GroupId group = bound_.groups[program_.collectives[index].group_slot];
  const auto rank = program::rank_in(program_.groups[group], device_);
  if (!rank) return all;
  const program::CollectiveCall call = lowerings_.call(index, group, *rank);
  const program::CollectiveAlgorithm& algorithm = program::algorithm_of(call);
  if (!most_ && call.size > 1 && RingLaws::is_likely(call)) {  // an event to enter it, and one to end
    all.append(reach_clock());
    all.append(waits());
    for (Stretch::Way& way : all.from) way.wakes += 1;
    all.posts.append(Posts::breaks());
    all.ring_messages = ring_messages(call);
    return all;
  }
  program::for_all_steps(algorithm, call, [&](const program::CollectiveCall&, const program::Step& step) {
    all.append(reach_clock());
    all.posts.append(Posts::of(static_cast<double>(step.sends.size())));
    if (!step.receives.empty()) {
      // Members move in step: what a step waits for comes when its own messages have left, or soon after.
      all.append(waits());
      all.posts.append(Posts::breaks());
    }
    if (step.reduce > 0 && !program_.free_reductions) all.append(ahead());
    if (step.wait_sends) all.append(departures());
  });
  all.posts.most *= algorithm.strands(call);
  return all;
}

}  // namespace

StreamVolume stream_volume(program::Lowerings& lowerings, const ProgramFacts& facts, program::DeviceId device) {
  StreamVolume volume;
  Walker late(lowerings, facts, device, false);
  Walker most(lowerings, facts, device, true);
  for (const program::BlockId entry : lowerings.program().devices[device].streams) {
    const Stretch& expected = late.of(entry);
    const Stretch& highest = most.of(entry);
    // A stream that nothing wakes goes on in an event of its own after so many instructions.
    const double pauses = expected.instructions / most_instructions_at_a_time;
    volume.wakes += std::max(pauses, 1 + expected.from[0].wakes);
    volume.most_wakes += std::max(pauses, 1 + highest.from[0].wakes);
    volume.ring_messages += expected.ring_messages;
    volume.intervals += expected.intervals;
    volume.memory_changes += expected.memory_changes;
    volume.in_line += expected.posts.most;
    volume.most_in_line += highest.posts.most;
  }
  return volume;
}

std::vector<std::string> rings_that_share_links(const program::Program& program, const machine::Machine& machine) {
  std::set<std::string> found;
  for (const program::Collective& collective : program.collectives) {
    const auto has_group = [&](const program::DeviceProgram& device) {
      return collective.group_slot < device.groups.size() && device.groups[collective.group_slot] != program::no_group;
    };
    const auto device = std::ranges::find_if(program.devices, has_group);
    if (device == program.devices.end()) continue;
    const program::Group& group = program.groups[device->groups[collective.group_slot]];
    const program::CollectiveCall call = program::make_call(collective, group, 0, machine);
    const program::CollectiveAlgorithm& algorithm = program::algorithm_of(call);
    const std::uint32_t rings = algorithm.strands(call);
    if (rings < 2 || !algorithm.goes_round(collective.kind) || RingLaws::is_likely(call)) continue;
    found.insert(fmt::format("{} over {} in {} rings", program::name_of(collective.kind), call.size, rings));
  }
  return {found.begin(), found.end()};
}

}  // namespace tessera::sim
