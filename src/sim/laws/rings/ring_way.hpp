// The way of a ring's messages from a member to the next one, over links that carry nothing else: when they arrive, and
// what the links have carried, to the picosecond and without an event.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "sim/laws/rings/way_facts.hpp"
#include "sim/laws/rings/way_ports.hpp"
#include "sim/lazy.hpp"

namespace tessera::sim {

class StateList;

class RingWay {
 public:
  using Posted = PostedMessage;

  RingWay(WayTable& ways, std::vector<machine::LinkId> links);

  [[nodiscard]] WayFacts& facts() const { return *facts_; }
  [[nodiscard]] const std::vector<machine::LinkId>& links() const { return links_; }
  /// What the links were busy with last, which may be in their queues still; all that counts is in the counts of
  /// others. `own_left`: see TrainPort::passed.
  void begin(const std::vector<BusyPeriod>& busy, const std::vector<ShortEnds>& short_ends, Time own_left = 0);
  /// rewind() goes back to here.
  void mark();
  void rewind();

  /// Posts a message, of a number of WayFacts::size_of, no earlier than the one before: when it is delivered.
  [[nodiscard]] Time send(Time at, std::uint32_t size) {
    if (at < state_.clear_at || state_.is_among) [[unlikely]]
      return state_.is_among ? send_among(at, size) : send_behind(at, size);
    if (state_.is_in_burst) [[unlikely]]
      close_burst();
    return send_alone(at, size);
  }

  /// Posts so many of them, the first one when all links are idle, and each other one so long after the one before
  /// that they are again.
  void send_in_turn(Time at, std::uint32_t size, std::uint32_t count, Time every) {
    static_cast<void>(send(at, size));
    state_.passed[size] += count - 1;
    state_.last_at += (count - 1) * every;
    state_.clear_at = state_.last_at + facts_->lone(size).clear;
  }

  /// A message posted from then on provably finds all links idle.
  [[nodiscard]] Time clear_at() const { return state_.clear_at; }
  /// When the last message is delivered; when the links were busy before, where there is none.
  [[nodiscard]] Time delivered() const;
  /// When the last message has left the first link.
  [[nodiscard]] Time left() const;
  /// What the links are busy with behind the last message.
  [[nodiscard]] std::vector<BusyPeriod> busy() const;
  /// Before that, in the last period that was busy at the beginning.
  [[nodiscard]] std::vector<ShortEnds> short_ends() const;
  [[nodiscard]] Time own_left() const { return state_.rest.get().own_left; }
  /// What they have carried since begin() or the last call; all of it has to have passed.
  [[nodiscard]] std::vector<LinkCounts> take_counts();
  /// The same as send(), where messages that are delivered at `end` or later are to be taken out again.
  [[nodiscard]] Time send_until(Time at, std::uint32_t size, Time end);
  /// Takes out the messages and guests from the first one on that is delivered at `end` or later, and with it those
  /// before it behind which it had to wait; and what the links were busy with before.
  struct UnderWay {
    std::vector<Posted> posted;
    std::vector<Guest> guests;
    std::vector<BusyPeriod> busy;
    [[nodiscard]] bool is_empty() const { return posted.empty() && guests.empty(); }
  };
  [[nodiscard]] UnderWay take_last(Time end);
  /// What is announced of a packet that comes among these to the last link.
  [[nodiscard]] WayPorts::Announced let_pass(const UnderWay& under_way, const Guest& guest) const;
  /// It comes later than what has been sent up to the mark: what is sent from there on meets it.
  void add_guest(const Guest& guest);
  /// Guests that come behind all that has been sent.
  void take_in_guests();
  /// What is over of bursts that have been sent since the mark, and all counts of those that were not known.
  struct PassedBursts {
    std::vector<std::pair<std::uint32_t, std::int64_t>> known;  ///< WayFacts::burst, how often
    std::vector<LinkCounts> counts;
  };
  /// Counts a burst that is over for a message posted from `at` on, as sending that one would.
  void close_before(Time at) {
    if (state_.is_in_burst && at >= state_.clear_at && !state_.is_among) close_burst();
  }
  /// Whether the same becomes of messages posted on both from `at` on. Of ways with guests it is not known.
  [[nodiscard]] bool is_as(const RingWay& other, Time at) const;
  /// Takes out what is over, so that what comes is counted by itself, and puts it in again.
  [[nodiscard]] PassedBursts set_aside();
  void put_back(const PassedBursts& passed);
  /// The same has been sent on this way as on the other one since what that one had passed was set aside, when it
  /// would have become the same on both.
  void follow(const RingWay& leader);

  /// Gives back room of which nothing is in use.
  void shed();
  [[nodiscard]] std::size_t guests() const { return state_.rest.get().guests.size(); }
  /// Or what is sent next may meet one.
  [[nodiscard]] bool has_guests() const { return state_.is_among || guests() > 0 || !bursts().guests.empty(); }
  void list(StateList& list);  ///< laws/rounds

 private:
  static constexpr std::uint32_t none = WayFacts::none;

  /// Messages that did not all find the links idle.
  struct Bursts {
    PostedLog burst;                 // the last messages
    std::vector<Guest> guests;       // among them
    std::vector<BusyPeriod> before;  // of the links: before the burst
    std::vector<BusyPeriod> busy;    // behind a burst that is not known, or at the beginning
    std::vector<LinkCounts> counts;  // of those that are over and were not known; empty: none
    std::uint32_t known = none;      // the burst, where WayFacts knows it
    [[nodiscard]] bool is_empty() const { return burst.empty() && guests.empty() && counts.empty(); }
    void add_times(const std::vector<LinkCounts>& more, std::int64_t times);
  };
  /// Most ways need nothing of this most of the time.
  struct Rest {
    Bursts now, marked;
    std::vector<BusyPeriod> begun;      // at the beginning; empty: all was over
    std::vector<ShortEnds> short_ends;  // the same
    Time own_left = 0;                  // the same
    UnderWay kept;                      // before the last message or burst: see send_until()
    std::vector<Guest> guests;          // since the mark
    std::size_t next_guest = 0;
  };
  using Known = std::vector<std::pair<std::uint32_t, std::int64_t>>;  // PassedBursts::known
  [[nodiscard]] Rest& rest() { return state_.rest.make(); }
  [[nodiscard]] std::vector<BusyPeriod> idle() const { return std::vector<BusyPeriod>(links_.size()); }
  static void add(Known& bursts, std::uint32_t number, std::int64_t times);

  [[nodiscard]] Time send_behind(Time at, std::uint32_t size);
  [[nodiscard]] Time send_among(Time at, std::uint32_t size);
  [[nodiscard]] Time send_alone(Time at, std::uint32_t size) {
    state_.last_at = at;
    state_.last = size;
    const Passage& lone = facts_->lone(size);
    if (state_.passed.size() <= size) [[unlikely]]
      state_.passed.resize(size + 1);
    ++state_.passed[size];
    state_.clear_at = saturating_add(at, lone.clear);
    return saturating_add(at, lone.delivered);
  }
  void take_in_before(Time at);
  void join_burst(const Guest& guest);
  [[nodiscard]] Time pass_again();
  void put_away();
  [[nodiscard]] bool is_over() const;
  [[nodiscard]] const Bursts& bursts() const { return state_.rest.get().now; }
  [[nodiscard]] bool has_burst() const { return state_.is_in_burst || !bursts().guests.empty(); }
  [[nodiscard]] bool has_kept() const { return !state_.rest.get().kept.is_empty(); }
  void begin_burst();
  [[nodiscard]] bool find_known(Time at, std::uint32_t size);
  [[nodiscard]] Time pass(Time at, std::int64_t bytes);
  void close_burst();
  void forget_burst();
  void keep_last();

  struct Mark {
    Time clear_at = 0;
    Time last_at = 0;
    std::uint32_t last = none;
  };
  /// All that changes.
  struct State {
    Time clear_at = 0;
    Time last_at = 0;
    std::uint32_t last = none;         // the last message, where it found all idle
    bool is_among = false;             // a guest may meet what is sent next
    bool is_in_burst = false;          // Bursts::burst is not empty
    std::vector<std::int64_t> passed;  // messages that found all idle, by size
    std::vector<std::int64_t> marked;  // those before the mark
    Known passed_bursts;               // those that are known and over
    Known marked_bursts;               // those before the mark
    Mark mark;
    Time last_delivery = 0;  // of send_until() ...
    Time end = never;        // ... and what it is asked for
    Lazy<Rest> rest;
  };

  WayFacts* facts_;
  const NetworkTables* tables_;
  std::vector<machine::LinkId> links_;
  State state_;
};

}  // namespace tessera::sim
