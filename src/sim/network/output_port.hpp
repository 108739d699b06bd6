// A link's FIFO server. It plans ahead: while one flow has the link to itself, all its packets are served by one closed
// form and announced by one event; a second flow cuts that plan where its first packet comes in (docs/laws.md).
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "sim/network/mixing.hpp"
#include "sim/network/network_tables.hpp"
#include "sim/network/port_state.hpp"

namespace tessera::sim {

class OutputPort;

/// Where a port's announcements go. Times are of arrival behind the link; `wake` is a call back at that time.
class PortSink {
 public:
  virtual ~PortSink() = default;
  virtual void deliver(const OutputPort& port, Time at, machine::NodeId destination, const Delivered& message) = 0;
  virtual void forward(const OutputPort& port, Time at, const Segment& segment) = 0;
  /// Whether segments may be told together.
  [[nodiscard]] virtual bool takes_together() const = 0;
  virtual void forward_together(const OutputPort& port, Time at, const Segments& segments) = 0;
  virtual void amend(const OutputPort& port, Time at, const Amend& amend) = 0;
  virtual void wake(const OutputPort& port, Time at, std::uint32_t token) = 0;
  /// The last packet of one of this device's messages leaves at `at`; that can no longer change.
  virtual void left(const OwnMessage& message, Time at) = 0;
};

/// Who is told what links have done when that can no longer change.
class PacketTrace {
 public:
  virtual ~PacketTrace() = default;
  /// Which packets left when, in order.
  virtual void packets_left(machine::LinkId link, const MessageName& name, machine::NodeId destination,
                            const Law& times) = 0;
};

/// A message to a device, in packets; its name and when it is posted are the caller's.
[[nodiscard]] OwnMessage message_of(const NetworkTables& tables, std::int64_t bytes, machine::NodeId destination);

class OutputPort {
 public:
  /// `self`: the component that serves the link. `trace` may be null.
  OutputPort(const NetworkTables& tables, machine::LinkId link, pdes::ComponentId self, PacketTrace* trace = nullptr)
      : tables_(&tables), trace_(trace), link_(link), self_(self) {}

  [[nodiscard]] machine::LinkId link() const { return link_; }
  [[nodiscard]] const LinkCounts& counts() const { return state_.counts; }

  /// `now` is the time of the event that is handled, `source` the component that made it: all that becomes known later
  /// has a greater (time, component).
  /// Puts a message in line; `before` and what is returned: see Injector::post. It is planned by flush(), which has to
  /// come before anything else happens to the port: all that is posted at once is planned once.
  Injector::Place post(Time now, const OwnMessage& message, Injector::Place before, PortSink& sink);
  void flush(Time now, pdes::ComponentId source, PortSink& sink) { go_on(now, source, sink); }
  /// False: the segment shortens another one that has not come.
  bool arrive(Time now, pdes::ComponentId source, const Segment& segment, PortSink& sink);
  /// All of them but those that have been taken back. What is returned: those of them that shorten another one that has
  /// not come, in the order of bits.
  std::uint32_t arrive(Time now, pdes::ComponentId source, const Segments& segments, std::uint32_t taken_back,
                       PortSink& sink);
  /// False: nothing that has come is meant.
  bool amend(Time now, pdes::ComponentId source, const Amend& amend, PortSink& sink);
  void wake(Time now, std::uint32_t token, PortSink& sink);

  /// When all messages of a stream of this device (of one of its batches, or of `any_batch`) will have left, as far as
  /// planned; `never` when that is not planned yet. Messages that were reported by PortSink::left are not included.
  [[nodiscard]] Time departure(std::uint32_t stream, std::uint32_t batch) const;
  /// When it announces something next although nothing new comes; `never` when it has nothing left to plan.
  [[nodiscard]] Time next_announcement() const { return state_.due; }
  /// Whether something new at `now` or later could change what it has announced.
  [[nodiscard]] bool may_amend(Time now) const { return has_run() && work().run.service.out.last >= now; }
  /// Whether nothing is in it; a run that is over is completed first.
  [[nodiscard]] bool settle(Time now, PortSink& sink);
  /// What has passed through the idle port, apart from it: the last busy period, what is known of its queue, and counts
  /// to add.
  void passed(const BusyPeriod& busy, const LinkCounts& counts, const ShortEnds& short_ends = {});
  /// The idle port as it is behind such packets, which may be in the queue still.
  void begin_behind(const BusyPeriod& busy, const ShortEnds& short_ends) { passed(busy, {}, short_ends); }
  [[nodiscard]] bool reserved() const { return state_.reserved; }
  /// The port is idle.
  void reserve() {
    state_.reserved = true;
    state_.work.forget();
  }
  void release() { state_.reserved = false; }
  /// For what is announced in its name.
  [[nodiscard]] std::uint32_t take_generation() { return state_.next_generation++; }
  /// Everything has been sent: completes the counts.
  void finish(PortSink& sink);

  [[nodiscard]] const PortState& state() const { return state_; }
  void restore(PortState state) { state_ = std::move(state); }

 private:
  using Turn = PortTurn;
  using Stream = PortWork::Stream;

  // Something has come, or come before:
  [[nodiscard]] PortWork& work() { return *state_.work; }
  [[nodiscard]] const PortWork& work() const { return *state_.work; }
  [[nodiscard]] bool has_run() const { return state_.work.is_made() && work().run.active; }
  [[nodiscard]] bool is_idle() const {
    return !state_.work.is_made() || (!work().run.active && work().own.empty() && work().waiting.empty());
  }
  [[nodiscard]] const Rate& rate() const { return tables_->rate(link_); }
  [[nodiscard]] Time latency() const { return tables_->link(link_).latency.value(); }
  [[nodiscard]] Turn turn_of(const Stream& stream) const;
  [[nodiscard]] std::uint32_t packets_before(const Turn& turn) const;
  [[nodiscard]] std::uint32_t packets_chosen(Time now) const;
  [[nodiscard]] bool certain(Time now, pdes::ComponentId source) const;

  void plan(Time now, PortSink& sink);
  void plan_alone(Time now, std::uint32_t stream, PortSink& sink);
  void begin_run(Time now, const Injector::Offer& offer, PortSink& sink);
  void plan_own(const Injector::Offer& offer);
  void plan_stream(std::uint32_t stream, const Turn* own_turn);

  // Several streams (output_shares.cpp):
  [[nodiscard]] bool may_share(const Turn* own_turn) const;
  [[nodiscard]] bool add(Rounds& rounds, std::uint32_t stream) const;
  [[nodiscard]] bool plan_shares(const Turn* own_turn);
  void gather(std::uint32_t most, std::optional<Turn>& limit);
  [[nodiscard]] Merged merge_flows(const Turn* limit) const;
  void keep(Merged&& merged);
  void begin_shares(PortSink& sink);
  void announce_shares(PortSink& sink);
  void cut_shares(Time now, const Turn& turn);
  [[nodiscard]] bool cut_singles(Time now, const Turn& turn);
  void take_fewer(std::uint32_t packets);
  void shorten_share(Time now, std::uint32_t stream, std::uint32_t left);
  void take_back(Time now, const std::vector<PlannedShare>& before);
  void take_back(Time now, const PlannedShare& before, const Law& out);
  void complete_shares(PortSink& sink);
  void count_shares();
  void complete_merged();
  void end_shares();
  void trace_shares() const;
  /// What a share belongs to.
  struct Announced {
    MessageName name;
    machine::NodeId destination = 0;
    Time waited_until = 0;
  };
  [[nodiscard]] Announced announced(const PlannedShare& share) const;

  // The own message among passing streams (output_mixed.cpp):
  [[nodiscard]] bool may_mix(const Injector::Offer& offer) const;
  [[nodiscard]] bool plan_mixed(const Injector::Offer& offer);
  void gather_near(Time from, std::optional<Turn>& limit);
  void keep_mixed();
  void cut_mixed(Time now, const Turn& turn);
  void complete_mixed();

  // Own messages that take turns (output_turns.cpp):
  [[nodiscard]] bool plan_turns(Time now, const Injector::Offer& offer);
  void add_last_turns(const std::vector<Injector::Place>& line);
  [[nodiscard]] std::uint32_t turns_planned() const;
  [[nodiscard]] std::int64_t turn_bytes(std::uint32_t packets) const;
  [[nodiscard]] Time turn_left(std::uint32_t index) const;
  [[nodiscard]] std::uint32_t turns_chosen(Time time) const;
  [[nodiscard]] std::uint32_t turns_before(const Turn& turn) const;
  void keep_turns(std::uint32_t packets);
  void cut_turns(Time now, std::uint32_t packets);
  void complete_turns(PortSink& sink);
  [[nodiscard]] bool has_left(Injector::Place place, Time time) const;
  [[nodiscard]] Time turns_departure(std::uint32_t stream, std::uint32_t batch, std::uint32_t held) const;

  void announce(Time waited_until, PortSink& sink);
  void forward(Segment& segment, PortSink& sink);
  void forward_together(Segments& segments, PortSink& sink);
  [[nodiscard]] Time take_along(Segments& segments, Time first);
  [[nodiscard]] std::optional<TimedAmend> take_amend(const Segment& segment, Time until);
  static void shorten_along(Segment& segment, const Amend& amend);
  void amend_later(Time kept_until, const Law& told, const Amend& amend);
  [[nodiscard]] bool goes_along(const Segment& one, const Segment& other) const;
  void send_amends(PortSink& sink);
  bool shorten(Time now, const Amend& amend);
  bool shorten_earlier(Time now, const Segment& segment);
  void cut(Time now, std::uint32_t packets);
  void cut_before(Time now, const Turn& turn);
  void go_on(Time now, pdes::ComponentId source, PortSink& sink);
  void complete_run(PortSink& sink);
  void complete_stream_run();
  void call_back(Time at, PortSink& sink);
  [[nodiscard]] bool work_left() const;

  std::uint32_t add_stream(pdes::ComponentId from, const Segment& segment);
  void release_stream(std::uint32_t stream);
  void put_in_line(Time now, std::uint32_t stream);
  void push_waiting(std::uint32_t stream);
  [[nodiscard]] std::uint32_t pop_waiting();
  void remove_waiting(std::uint32_t stream);
  [[nodiscard]] bool has_company(Time now);
  [[nodiscard]] bool takes_no_time(const Law& law) const;

  // The longest queue (output_queue.cpp):
  void put_behind();
  void count_queue();
  void count_turns(QueuePeak& queue) const;

  const NetworkTables* tables_;
  PacketTrace* trace_;
  machine::LinkId link_;
  pdes::ComponentId self_;
  PortState state_;
};

}  // namespace tessera::sim
