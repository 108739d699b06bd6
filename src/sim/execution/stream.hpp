// Where a stream of a device's program stands.
#pragma once

#include <cstdint>
#include <vector>

#include "tessera/program/collective.hpp"
#include "tessera/program/program.hpp"

namespace tessera::sim {

/// A block that is being run.
struct Frame {
  program::BlockId block = 0;
  std::uint32_t size = 0;     ///< instructions
  std::uint32_t next = 0;     ///< instruction
  std::uint32_t repeats = 1;  ///< left, this one included
};

/// Which pass of micro-batches the block at this depth is that of; 0: none. It has a caller.
[[nodiscard]] inline std::uint32_t pass_of(const program::Program& program, const std::vector<Frame>& frames,
                                           std::size_t depth) {
  const Frame& caller = frames[depth - 1];
  return program.blocks[caller.block].code[caller.next - 1].b;
}

enum class StreamState : std::uint8_t {
  runs,         ///< or will, in this event
  until_clock,  ///< waits for the time of its clock
  message,      ///< a receive waits for its message
  messages,     ///< a collective waits for messages of its step
  strands,      ///< for the strands of its collective
  taken_over,   ///< for the end of a collective that somebody else carries out (takeover.hpp)
  departures,   ///< waits for messages to leave the device
  event,        ///< waits for a signal
  kernel,       ///< waits for the end of a kernel
  computes,     ///< waits for the compute engine to do its job
  adds,         ///< a collective waits until the memory has moved what its step adds
  done,
};

/// Instructions that a stream carries out in one event, at most: between events the engine looks at signals.
inline constexpr int most_instructions_at_a_time = 4096;

/// A collective that is under way.
struct CollectiveRun {
  enum class Phase : std::uint8_t { none, post, receive, add, depart, strands, taken_over };
  Phase phase = Phase::none;
  bool wait_sends = false;  ///< of the step
  std::uint32_t index = 0;  ///< in Program::collectives
  program::GroupId group = 0;
  std::uint32_t rank = 0;    ///< in the group
  std::uint32_t strand = 0;  ///< of the strand that this is
  program::Lowering lowering;
  std::uint32_t step = 0;
  std::uint32_t steps = 0;
  std::int64_t reduce = 0;  ///< B, of the step
  Time pause = 0;           ///< ps, of the step
  /// The latest join of those members on whom depends what has come so far; the own one at first.
  Time waited_until = 0;
  // Where it is carried out by several strands, each with a Stream of its own:
  std::uint32_t strands = 1;
  std::uint32_t strands_left = 0;  ///< that have not ended
  Time ended = 0;                  ///< the latest clock of those that have; of a ring without steps: its end
};

/// A stretch of time in which a stream waited for other devices.
struct WaitSpan {
  Time begin = 0;
  Time end = 0;
  program::Activity activity = program::Activity::waiting;
};

inline constexpr std::uint32_t no_stream = ~std::uint32_t{0};

/// A stream of the program, or a strand of a collective that one of these carries out.
struct Stream {
  std::uint32_t index = 0;
  std::uint32_t parent = no_stream;  ///< of a strand: the stream that calls its collective, or called the last one
  StreamState state = StreamState::runs;
  std::uint32_t token = 0;  ///< of the latest StreamWake; older ones are ignored
  Time wake = 0;            ///< when that takes place, or took place; 0: it is in the name of another component
  /// Everything before is done. Ahead of simulated time while nothing that others can see depends on it.
  Time clock = 0;
  Time since = 0;             ///< when the present instruction was begun
  std::uint32_t missing = 0;  ///< messages that the present instruction or step waits for
  std::uint32_t batch = 0;    ///< of the latest step's sends
  Time left = 0;              ///< when the latest of all its messages that have left did so
  Time batch_left = 0;        ///< the same, of the latest step's sends
  std::uint32_t in_hint = 0;  ///< where it looked last in Mailboxes and Outboxes
  std::uint32_t out_hint = 0;
  std::uint32_t launched = 0;  ///< operators of the present instruction, where the compute engine does them in turn
  // Of a main stream whose host launches what it does (Program::issue_interval):
  Time issued = 0;         ///< when the host was through with the latest launch
  bool host_waits = true;  ///< for all that it has launched: it goes on behind that
  bool is_issued = false;  ///< the present instruction has been launched
  CollectiveRun collective;
  std::vector<Frame> frames;
  /// Since the main stream has begun to wait for a signal, perhaps this one's; in order of time.
  std::vector<WaitSpan> waits;
};

}  // namespace tessera::sim
