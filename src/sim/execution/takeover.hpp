// A collective that is carried out by somebody else, in place of the steps of its members: what a device and whoever
// does so know of each other. He may give it back at any moment (BrokenOff): the device goes on from there step by
// step.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/execution/stream.hpp"
#include "sim/network/injector.hpp"
#include "tessera/pdes/component.hpp"

namespace tessera::sim {

/// A place in the engine's order: what `source` causes at `time`.
struct Moment {
  Time time = 0;
  pdes::ComponentId source = 0;
  auto operator<=>(const Moment&) const = default;
};

/// When the collective of a member is over.
struct TakenEnd {
  Moment at;       ///< the last step is over but for its addition
  Time clock = 0;  ///< with it
  Time left = 0;   ///< the last message has left the device
};

/// What a member has sent and received on a lane of a collective.
struct TakenMessages {
  std::uint32_t channel = 0;
  program::DeviceId next = 0;
  std::uint32_t count = 0;    ///< each way
  std::int64_t sent = 0;      ///< B
  std::int64_t received = 0;  ///< B, of the messages that it has asked for
};

/// The stream that carries out a strand of a collective, and its latest batch.
struct TakenStream {
  std::uint32_t index = 0;
  std::uint32_t batch = 0;
};

inline constexpr std::uint32_t most_slots = 2;  ///< messages that a strand sends in a step

/// Where a strand of a member stands among its steps at a moment.
struct StepProgress {
  std::uint32_t posted = 0;  ///< steps
  std::uint32_t taken = 0;   ///< steps whose messages have come and are being added, or have been
  Time waited_until = 0;     ///< CollectiveRun::waited_until
  Moment next;               ///< taken == posted: when it posts the next one, or has ended
  Time ended = 0;            ///< taken == all: the last addition is over
  struct Slot {
    bool awaits = false;             ///< taken < posted: this message has not come
    std::vector<Time> early;         ///< of messages that have come before they are asked for: their waited_until
    std::vector<Time> on_their_way;  ///< of those that it has posted and that have not come: their waited_until
    std::uint32_t sent = 0;          ///< messages that it has posted
    std::uint32_t tied = 0;          ///< of those on their way, the ones that come by the event itself
  };
  std::array<Slot, most_slots> slots;
};

/// Where a collective stands at one of its members when it is given back.
struct BrokenOff {
  struct Way {
    TakenMessages messages;
    program::DeviceId previous = 0;
    Injector::Ticket place = Injector::no_ticket;  ///< of its last message, in line
  };
  struct Strand {
    std::uint32_t stream = 0;
    StepProgress progress;
    bool is_over = false;
    bool goes_on_now = false;  ///< in the device's own event that breaks it off
    std::int64_t adding = 0;   ///< B that it will add when the messages come for which it waits
    std::vector<Way> ways;     ///< by slot
  };
  bool goes_on = false;  ///< it has entered, and has something left to do
  std::uint32_t stream = 0;
  Time joined = 0;  ///< CollectiveRun::waited_until when it entered
  std::vector<Strand> strands;
};

/// A device, as whoever carries out its collectives sees it.
class TakenMember {
 public:
  virtual ~TakenMember() = default;
  /// Of a stream that is in a collective of so many strands.
  [[nodiscard]] virtual TakenStream taken_stream(std::uint32_t stream, std::uint32_t strand, std::uint32_t strands) = 0;
  /// The number of its next message to a device on a channel.
  [[nodiscard]] virtual std::uint32_t next_message(program::DeviceId to, std::uint32_t channel) = 0;
  /// When the collective of a stream is over. Unless that is now, the stream goes on by an event of `end.at.source`.
  virtual void taken_ends(pdes::Context& context, std::uint32_t stream, const TakenEnd& end, Time waited_until,
                          bool is_now) = 0;
  /// A message comes to it at a time, by an event of `at.source`. It asks Takeover::has_come() then.
  virtual void taken_delivers(pdes::Context& context, const Moment& at, const Delivered& message) = 0;
  /// What it has posted is in its ports. `own`: a context of the device; null when nothing happens any more.
  virtual void broken_off(pdes::Context* own, const BrokenOff& broken) = 0;
  virtual void count_taken(const TakenMessages& messages) = 0;
};

/// Whoever carries out collectives.
class Takeover {
 public:
  virtual ~Takeover() = default;
  enum class Answer : std::uint8_t { step_by_step, waits, ends_now };
  /// A member begins a collective, at its first step, in an event of `source`; `in_turn`: see Reservations::break_off.
  /// `waits`: TakenMember::taken_ends says or has said when it is over; `ends_now`: it has, and it is.
  [[nodiscard]] virtual Answer enter(pdes::Context& context, pdes::ComponentId source, std::uint32_t in_turn,
                                     const Stream& stream) = 0;
  /// A member has ended a collective.
  virtual void leave(const CollectiveRun& run) = 0;
  /// A message that a device posts now, step by step, over a link that somebody has for himself. If it is one of the
  /// collective that has the link, it goes on with that: when it has left the device.
  [[nodiscard]] virtual std::optional<Time> carry(pdes::Context& context, machine::LinkId link, const MessageName& name,
                                                  program::DeviceId destination, std::int64_t bytes,
                                                  Time waited_until) = 0;
  /// Of a message with told_by_takeover: whether it comes. Otherwise its collective has been broken off since.
  [[nodiscard]] virtual bool has_come(program::DeviceId to, const Delivered& message) = 0;
};

}  // namespace tessera::sim
