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

#include "sim/execution/takeover.hpp"
#include "sim/laws/rings/ring_waves.hpp"
#include "sim/network/node.hpp"
#include "tessera/program/collective.hpp"

namespace tessera::sim {

/// The parts of a rank, by component; null: on another rank.
struct RankParts {
  std::vector<NetworkNode*> nodes;
  std::vector<TakenMember*> members;  ///< devices
};

/// Who is told before members of a ring, and what its messages pass, have to do with each other.
class RingMeetings {
 public:
  virtual ~RingMeetings() = default;
  virtual void meet(const std::vector<pdes::ComponentId>& parts) = 0;
};

class RingLaws final : public Takeover, public Reservations {
 public:
  /// All outlive it. `addition(device, bytes)`: the time to add received data. `fold`: null where all is simulated.
  /// `arrivals`: null where nobody wants to know.
  using Addition = std::function<Time(program::DeviceId, std::int64_t)>;
  RingLaws(const NetworkTables& tables, program::Lowerings& lowerings, const RankParts& parts, const Fold* fold,
           Arrivals* arrivals, Addition addition);

  ~RingLaws() override;
  /// Whether a collective of several members is likely to be taken: it goes round rings, and what a member sends to
  /// others leaves over other links.
  [[nodiscard]] static bool is_likely(const program::CollectiveCall& call);

  [[nodiscard]] Answer enter(pdes::Context& context, pdes::ComponentId source, std::uint32_t in_turn,
                             const Stream& stream) override;
  void leave(const CollectiveRun& run) override;
  [[nodiscard]] std::optional<Time> carry(pdes::Context& context, machine::LinkId link, const MessageName& name,
                                          program::DeviceId destination, std::int64_t bytes,
                                          Time waited_until) override;
  [[nodiscard]] bool has_come(program::DeviceId to, const Delivered& message) override;
  void break_off(pdes::Context& context, pdes::ComponentId source, machine::LinkId link, std::uint32_t stream) override;
  [[nodiscard]] bool let_pass(pdes::Context& context, pdes::ComponentId source, machine::LinkId link,
                              const Segment& segment) override;
  [[nodiscard]] pdes::ComponentId sender_to(machine::LinkId link) const override;
  /// Nothing will happen any more: those that have not ended, as they stand.
  void finish();
  // For laws/rounds:
  /// Rings of which `is_here` is true of the first member.
  void list(StateList& list, const std::function<bool(program::DeviceId)>& is_here);
  /// From now on, once a ring; null: nobody.
  void tell_meetings(RingMeetings* meetings);
  /// The parts of each ring that has ports for itself, or members in a collective.
  [[nodiscard]] std::vector<std::vector<pdes::ComponentId>> under_way() const;

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
  [[nodiscard]] bool find_ways(RingParts& parts, bool is_part);
  [[nodiscard]] bool find_way(RingParts& parts, std::uint32_t way);
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
  [[nodiscard]] RingWay::UnderWay under_way(Ring& ring, std::uint32_t way, const Moment& event);
  void find_ends_again(pdes::Context& context, Ring& ring);
  void find_ends(pdes::Context& context, Ring& ring, Run& run, const Moment& now);
  void count(const Ring& ring, const Run& run, std::uint32_t rank);
  static void list_run(StateList& list, Run& run);
  [[nodiscard]] std::vector<pdes::ComponentId> parts_of(const Ring& ring, const Track& track) const;

  void break_off(pdes::Context* context, Ring& ring, const Interruption& by);
  void take_back(const Guest& guest, machine::LinkId link);
  [[nodiscard]] WayPorts::Rename renaming(const std::vector<std::uint32_t>& shifts,
                                          const std::vector<pdes::ComponentId>& servers, Time now) const;
  [[nodiscard]] Injector::Ticket fill_ports(const Breaking& breaking, std::uint32_t way);
  [[nodiscard]] std::vector<OwnMessage> messages_of(const Breaking& breaking, std::uint32_t way,
                                                    std::size_t count) const;
  void tell_member(const Breaking& breaking, std::uint32_t rank, std::size_t number);

  const NetworkTables* tables_;
  program::Lowerings* lowerings_;
  const RankParts* parts_;
  const Fold* fold_;
  Arrivals* arrivals_;
  RingMeetings* meetings_ = nullptr;
  Addition addition_;
  WayTable ways_;
  std::map<RingShape, std::unique_ptr<Track>> tracks_;
  std::vector<std::unique_ptr<Ring>> rings_;  // by group; null: not asked for yet
  std::vector<Reserved> reserved_by_;         // by link, where its port is reserved
};

}  // namespace tessera::sim
