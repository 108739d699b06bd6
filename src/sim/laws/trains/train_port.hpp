// A link's FIFO server. It plans ahead: while one flow has the link to itself, all its packets are served by one closed
// form and announced by one event; a second flow cuts that plan where its first packet comes in (docs/laws.md).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "sim/laws/trains/mixing.hpp"
#include "sim/laws/trains/train_state.hpp"

namespace tessera::sim {

/// What Port says, and what laws above it need.
class TrainPort final : public Port {
 public:
  TrainPort(const NetworkTables& tables, machine::LinkId link, pdes::ComponentId self, PacketTrace* trace = nullptr)
      : Port(tables, link, self, trace) {}

  [[nodiscard]] const LinkCounts& counts() const override { return state_.counts; }
  /// It is planned by flush(): all that is posted at once is planned once.
  Injector::Ticket post(Time now, const OwnMessage& message, Injector::Ticket before, PortSink& sink) override;
  void flush(Time now, pdes::ComponentId source, PortSink& sink) override;
  void withhold_last(Time now, Injector::Ticket place, PortSink& sink) override;
  bool arrive(Time now, pdes::ComponentId source, const Segment& segment, PortSink& sink) override;
  std::uint32_t arrive(Time now, pdes::ComponentId source, const Segments& segments, std::uint32_t taken_back,
                       PortSink& sink) override;
  bool amend(Time now, pdes::ComponentId source, const Amend& amend, PortSink& sink) override;
  void wake(Time now, std::uint32_t token, PortSink& sink) override;
  [[nodiscard]] Time departure(std::uint32_t stream, std::uint32_t batch) const override;
  [[nodiscard]] Time next_announcement() const override { return state_.due; }
  [[nodiscard]] bool may_amend(Time now) const override { return has_run() && work().run.service.out.last >= now; }
  void finish(PortSink& sink) override;
  [[nodiscard]] bool reserved() const override { return state_.reserved; }
  [[nodiscard]] std::unique_ptr<PortState> save() const override { return std::make_unique<TrainState>(state_); }
  void restore(const PortState& state) override { state_ = static_cast<const TrainState&>(state); }

  /// Whether nothing is in it; a run that is over is completed first.
  [[nodiscard]] bool settle(Time now, PortSink& sink);
  /// What has passed through the idle port, apart from it: the last busy period, what is known of its queue, and counts
  /// to add. `own_left`: when a packet of the device's own leaves that is on its way out; 0: none is.
  void passed(const BusyPeriod& busy, const LinkCounts& counts, const ShortEnds& short_ends = {}, Time own_left = 0);
  /// The idle port as it is behind such packets, which may be in the queue still.
  void begin_behind(const BusyPeriod& busy, const ShortEnds& short_ends, Time own_left) {
    passed(busy, {}, short_ends, own_left);
  }
  /// When the last packet of the device's own has left, or will.
  [[nodiscard]] Time own_left() const { return state_.work.get().own.left(); }
  /// The port is idle.
  void reserve() {
    state_.reserved = true;
    state_.work.forget();
  }
  void release() { state_.reserved = false; }
  /// What it has planned of a message, and is announcing, has been told under this number before.
  void tell_as(const Segment& segment, std::uint32_t generation);
  /// For what is announced in its name.
  [[nodiscard]] std::uint32_t take_generation() { return state_.next_generation++; }

  [[nodiscard]] const TrainState& state() const { return state_; }
  [[nodiscard]] TrainState& state() { return state_; }  ///< laws/rounds

 private:
  using Turn = PortTurn;
  using Stream = TrainWork::Stream;

  void cut_for_newcomer(Time now);
  // Something has come, or come before:
  [[nodiscard]] TrainWork& work() { return *state_.work; }
  [[nodiscard]] const TrainWork& work() const { return *state_.work; }
  [[nodiscard]] bool has_run() const { return state_.work.is_made() && work().run.active; }
  [[nodiscard]] bool is_idle() const {
    return !state_.work.is_made() || (!work().run.active && work().own.empty() && work().waiting.empty());
  }
  [[nodiscard]] Turn turn_of(const Stream& stream) const;
  [[nodiscard]] std::uint32_t packets_before(const Turn& turn) const;
  [[nodiscard]] std::uint32_t packets_chosen(Time now) const;
  [[nodiscard]] bool certain(Time now, pdes::ComponentId source) const;

  void plan_next(Time now, pdes::ComponentId source, PortSink& sink);
  void plan(Time now, pdes::ComponentId source, PortSink& sink);
  [[nodiscard]] bool leaves_at_once(Time now, const Injector::Offer& offer) const;
  [[nodiscard]] bool leaves_before_others_come(Time now, pdes::ComponentId source, const Injector::Offer& offer) const;
  void plan_alone(Time now, std::uint32_t stream, PortSink& sink);
  void begin_run(Time now, pdes::ComponentId source, const Injector::Offer& offer, PortSink& sink);
  void plan_own(const Injector::Offer& offer);
  void plan_stream(std::uint32_t stream, const Turn* own_turn);

  // Several streams (train_shares.cpp):
  [[nodiscard]] bool may_share(const Turn* own_turn) const;
  [[nodiscard]] bool add(PacketRounds& rounds, std::uint32_t stream, Time first) const;
  [[nodiscard]] bool plan_shares(const Turn* own_turn);
  void gather(std::uint32_t most, std::optional<Turn>& limit);
  void limit_to_gap(Time free, std::optional<Turn>& limit);
  [[nodiscard]] Merged merge_flows(const Turn* limit) const;
  void keep(Merged&& merged);
  void begin_shares(PortSink& sink);
  void announce_shares(PortSink& sink);
  void announce_shares(std::span<PlannedShare> shares, PortSink& sink);
  void cut_shares(Time now, const Turn& turn);
  [[nodiscard]] bool cut_singles(Time now, const Turn& turn);
  void take_fewer(std::uint32_t packets);
  void shorten_share(Time now, std::uint32_t stream, std::uint32_t left);
  void take_back(Time now, const std::vector<PlannedShare>& before);
  void take_back(Time now, const PlannedShare& before, const PacketTimes& out);
  void complete_shares(PortSink& sink);
  void count_shares(std::span<const PlannedShare> shares);
  void complete_merged();
  void end_shares();
  void trace_shares(std::span<const PlannedShare> shares) const;
  /// What a share belongs to.
  struct Announced {
    MessageName name;
    machine::NodeId destination = 0;
    Time waited_until = 0;
    bool goes_on = false;
    std::int64_t bytes = 0;
  };
  [[nodiscard]] Announced announced(const PlannedShare& share) const;

  // The own message among passing streams (train_mixed.cpp):
  [[nodiscard]] bool may_mix(const Injector::Offer& offer) const;
  [[nodiscard]] bool plan_mixed(const Injector::Offer& offer);
  void gather_near(Time from, std::optional<Turn>& limit);
  void keep_mixed();
  void cut_mixed(Time now, const Turn& turn);
  void complete_mixed();

  // Own messages that take turns (train_turns.cpp):
  [[nodiscard]] bool plan_turns(Time now, const Injector::Offer& offer);
  void add_last_turns(const std::vector<Injector::Ticket>& line);
  [[nodiscard]] std::uint32_t turns_planned() const;
  [[nodiscard]] std::uint32_t turns_of(std::uint32_t taker) const;
  [[nodiscard]] bool ends_turns(std::uint32_t taker) const;
  [[nodiscard]] std::uint32_t turns_that_end() const;
  [[nodiscard]] PlannedShare turn_share(std::uint32_t taker) const;
  [[nodiscard]] std::vector<PlannedShare> turn_shares(std::uint32_t first, std::uint32_t count) const;
  [[nodiscard]] std::int64_t turn_bytes(std::uint32_t packets) const;
  [[nodiscard]] Time turn_left(std::uint32_t index) const;
  [[nodiscard]] std::uint32_t turns_chosen(Time time) const;
  [[nodiscard]] std::uint32_t turns_before(const Turn& turn) const;
  void keep_turns(std::uint32_t packets);
  void cut_turns(Time now, std::uint32_t packets);
  void complete_turns(PortSink& sink);
  void announce_turns(PortSink& sink);
  [[nodiscard]] Time next_turns_at() const;
  [[nodiscard]] bool has_left(Injector::Ticket place, Time time) const;
  [[nodiscard]] Time turns_departure(std::uint32_t stream, std::uint32_t batch, std::uint32_t held) const;

  void announce(Time waited_until, PortSink& sink);
  void forward(Segment& segment, PortSink& sink);
  void forward_together(Segments& segments, PortSink& sink);
  [[nodiscard]] Time take_along(Segments& segments, Time first);
  [[nodiscard]] std::optional<TimedAmend> take_amend(const Segment& segment, Time until);
  static void shorten_along(Segment& segment, const Amend& amend);
  void amend_later(Time kept_until, const PacketTimes& told, const Amend& amend);
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
  [[nodiscard]] Time goes_on_at() const;
  [[nodiscard]] Time next_known() const;
  [[nodiscard]] Time free_behind(Time free, Time turn) const {
    return saturating_add(std::max(free, turn), rate().up(tables_->packet()));
  }
  [[nodiscard]] bool is_behind_gap(Time turn, Time free) const;

  std::uint32_t add_stream(pdes::ComponentId from, const Segment& segment);
  void release_stream(std::uint32_t stream);
  void put_in_line(Time now, std::uint32_t stream);
  void push_waiting(std::uint32_t stream);
  [[nodiscard]] std::uint32_t pop_waiting();
  void remove_waiting(std::uint32_t stream);
  [[nodiscard]] bool has_company(Time now);
  [[nodiscard]] bool takes_no_time(const PacketTimes& times) const;

  // The longest queue (train_queue.cpp):
  void put_behind();
  void count_queue();
  void count_turns(QueuePeak& queue) const;

  TrainState state_;
};

// Where all ports of a rank are of this kind:
[[nodiscard]] MakePort train_ports();
[[nodiscard]] inline TrainState& train_state(PortState& state) { return static_cast<TrainState&>(state); }
[[nodiscard]] inline TrainPort& train_port(Port& port) { return static_cast<TrainPort&>(port); }
[[nodiscard]] inline const TrainPort& train_port(const Port& port) { return static_cast<const TrainPort&>(port); }

}  // namespace tessera::sim
