// Collectives that go round rings, without events for their steps: while their links carry nothing else, the ends of
// all members follow from when they enter (ring_walk.hpp). Single packets of others become a part of that. When
// anything else comes to one of these links, the ring is broken off: its members, mailboxes and ports are put into the
// state that they would have step by step, and go on from there. Of rings over ranks each has those members that have
// no neighbour on another one (ring_part.cpp).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "sim/execution/stream.hpp"
#include "sim/network/node.hpp"
#include "sim/rings/ring_waves.hpp"
#include "tessera/program/collective.hpp"

namespace tessera::sim {

/// What a member has sent and received on a lane of a ring collective.
struct RingMessages {
  std::uint32_t channel = 0;
  program::DeviceId next = 0;
  std::uint32_t count = 0;    ///< each way
  std::int64_t sent = 0;      ///< B
  std::int64_t received = 0;  ///< B, of the messages that it has asked for
};

/// The stream that carries out a strand of a collective, and its latest batch.
struct RingStream {
  std::uint32_t index = 0;
  std::uint32_t batch = 0;
};

/// Where a ring collective stands at one of its members when it is broken off.
struct BrokenOff {
  struct Way {
    RingMessages messages;
    program::DeviceId previous = 0;
    Injector::Place place = Injector::no_place;  ///< of its last message, in line
  };
  struct Strand {
    std::uint32_t stream = 0;
    RingStanding standing;
    bool is_over = false;
    bool goes_on_now = false;  ///< in the device's own event that breaks the ring off
    std::int64_t adding = 0;   ///< B that it will add when the messages come for which it waits
    std::vector<Way> ways;     ///< by slot
  };
  bool goes_on = false;  ///< it has entered, and has something left to do
  std::uint32_t stream = 0;
  Time joined = 0;  ///< CollectiveRun::waited_until when it entered
  std::vector<Strand> strands;
};

/// A device, as rings see it.
class RingMember {
 public:
  virtual ~RingMember() = default;
  /// Of a stream that is in a collective of so many strands.
  [[nodiscard]] virtual RingStream ring_stream(std::uint32_t stream, std::uint32_t strand, std::uint32_t strands) = 0;
  /// The number of its next message to a device on a channel.
  [[nodiscard]] virtual std::uint32_t next_message(program::DeviceId to, std::uint32_t channel) = 0;
  /// When the collective of a stream is over. Unless that is now, the stream goes on by an event of `end.at.source`.
  virtual void ring_ends(pdes::Context& context, std::uint32_t stream, const RingEnd& end, Time waited_until,
                         bool is_now) = 0;
  /// A message of a ring comes to it at a time, by an event of `at.source`. It asks RingLaws::has_come() then.
  virtual void ring_delivers(pdes::Context& context, const Moment& at, const Delivered& message) = 0;
  /// What it has posted is in its ports. `own`: a context of the device; null when nothing happens any more.
  virtual void ring_is_broken_off(pdes::Context* own, const BrokenOff& broken) = 0;
  virtual void count_ring(const RingMessages& messages) = 0;
};

/// The parts of a rank, by component; null: on another rank.
struct RankParts {
  std::vector<NetworkNode*> nodes;
  std::vector<RingMember*> members;  ///< devices
};

class RingLaws final : public Reservations {
 public:
  /// All outlive it. `addition(device, bytes)`: the time to add received data. `fold`: null where all is simulated.
  using Addition = std::function<Time(program::DeviceId, std::int64_t)>;
  RingLaws(const NetworkTables& tables, program::Lowerings& lowerings, const RankParts& parts, const Fold* fold,
           Addition addition);

  ~RingLaws() override;
  /// Whether a collective of several members is likely to be taken: it goes round rings, and what a member sends to
  /// others leaves over other links.
  [[nodiscard]] static bool is_likely(const program::CollectiveCall& call);

  enum class Answer : std::uint8_t { step_by_step, waits, ends_now };
  /// A member begins a collective, at its first step, in an event of `source`; `in_turn`: see Reservations::break_off.
  /// `waits`: RingMember::ring_ends says or has said when it is over; `ends_now`: it has, and it is.
  [[nodiscard]] Answer enter(pdes::Context& context, pdes::ComponentId source, std::uint32_t in_turn,
                             const Stream& stream);
  /// A member has ended a collective.
  void leave(const CollectiveRun& run);
  /// A message that a device posts now, step by step, over a link that rings have for themselves. If it is one of the
  /// ring that has the link, it goes on with that: when it has left the device.
  [[nodiscard]] std::optional<Time> carry(pdes::Context& context, machine::LinkId link, const MessageName& name,
                                          program::DeviceId destination, std::int64_t bytes, Time waited_until);
  /// Of a message told_by_rings: whether it comes. Otherwise its ring has been broken off since.
  [[nodiscard]] bool has_come(program::DeviceId to, const Delivered& message);
  void break_off(pdes::Context& context, pdes::ComponentId source, machine::LinkId link, std::uint32_t stream) override;
  [[nodiscard]] bool let_pass(pdes::Context& context, pdes::ComponentId source, machine::LinkId link,
                              const Segment& segment) override;
  /// Nothing will happen any more: those that have not ended, as they stand.
  void finish();
  void list(StateList& list);  ///< sim/periods

 private:
  struct Track;
  struct Ring;
  struct Run;
  struct Work;
  struct Breaking;
  /// In this event something else happens.
  struct Interruption {
    Moment event;
    /// Where it is an event of a device for itself: of its streams that are due those before this one have gone on in
    /// it; any_stream: all have.
    std::uint32_t stream = any_stream;
  };
  /// `work` null: step by step, now and always.
  struct Asked {
    Ring* ring = nullptr;
    const Work* work = nullptr;
  };
  struct Reserved {
    Track* track = nullptr;
    std::uint32_t way = 0;
  };
  [[nodiscard]] Asked ring_of(const CollectiveRun& run);
  [[nodiscard]] std::unique_ptr<Ring> make_ring(program::GroupId group) const;
  [[nodiscard]] Ring& ring_at(program::GroupId group);
  [[nodiscard]] const Work& work_of(Ring& ring, std::uint32_t index);
  void complete(RingWork& work, const Track& track) const;
  [[nodiscard]] Track& track_of(RingShape shape, bool is_part);
  [[nodiscard]] bool find_paths(RingParts& parts, bool is_part);
  [[nodiscard]] bool find_path(RingParts& parts, std::uint32_t way);
  void find_places(Ring& ring) const;
  void find_members_here(Ring& ring) const;
  void append_route(program::DeviceId from, program::DeviceId to, std::vector<machine::LinkId>& links) const;
  void make_gate(RingParts& parts, std::uint32_t way);
  void find_gates_in(RingParts& parts, std::vector<machine::LinkId>& used) const;
  static void begin_part(const Ring& ring, Run& run);
  [[nodiscard]] Answer enter_part(pdes::Context& context, Ring& ring, Run& run, std::uint32_t rank,
                                  const Interruption& by);
  void tell(pdes::Context& context, const Ring& ring, Run& run, const Moment& now);
  [[nodiscard]] static Run* run_of(Ring& ring, std::uint32_t way, std::uint32_t number);
  void leave_behind(const Ring& ring);
  [[nodiscard]] Run* run_of(pdes::Context& context, Ring& ring, const Interruption& now,
                            const CollectiveRun& collective, const Work& work);
  void give_up(pdes::Context& context, Ring& ring, const Interruption& now);
  [[nodiscard]] std::uint32_t port_of(machine::LinkId link) const;
  [[nodiscard]] TrainPort& port_at(machine::LinkId link) const;
  [[nodiscard]] static bool take(Ring& ring, Track& track);
  [[nodiscard]] bool reserve_ways(pdes::Context& context, const Ring& ring, const Run& run, std::uint32_t rank);
  [[nodiscard]] bool reserve(pdes::Context& context, Track& track, std::uint32_t way, const RingWork& work);
  [[nodiscard]] bool is_at_rest(const Reserved& reserved, Time now) const;
  void release(const Reserved& reserved);
  /// Nobody has the link's port for himself afterwards. False: the ring that has it still uses the way.
  [[nodiscard]] bool free_up(machine::LinkId link, Time now);
  [[nodiscard]] bool may_pass(const Reserved& reserved, machine::LinkId link, const Segment& segment) const;
  [[nodiscard]] RingPath::UnderWay under_way(Ring& ring, std::uint32_t way, const Moment& event);
  void find_ends_again(pdes::Context& context, Ring& ring);
  void find_ends(pdes::Context& context, Ring& ring, Run& run, const Moment& now);
  void count(const Ring& ring, const Run& run, std::uint32_t rank);
  static void list_run(StateList& list, Run& run);

  void break_off(pdes::Context* context, Ring& ring, const Interruption& by);
  [[nodiscard]] PortChain::Rename renaming(const std::vector<std::uint32_t>& shifts) const;
  [[nodiscard]] Injector::Place fill_ports(const Breaking& breaking, std::uint32_t way);
  [[nodiscard]] std::vector<OwnMessage> messages_of(const Breaking& breaking, std::uint32_t way,
                                                    std::size_t count) const;
  void tell_member(const Breaking& breaking, std::uint32_t rank, std::size_t number);

  const NetworkTables* tables_;
  program::Lowerings* lowerings_;
  const RankParts* parts_;
  const Fold* fold_;
  Addition addition_;
  WayTable ways_;
  std::map<RingShape, std::unique_ptr<Track>> tracks_;
  std::vector<std::unique_ptr<Ring>> rings_;  // by group; null: not asked for yet
  std::vector<Reserved> reserved_by_;         // by link, where its port is reserved
};

}  // namespace tessera::sim
