// The way of a ring's messages from a member to the next one, over links that carry nothing else: when they arrive, and
// what the links have carried, to the picosecond and without an event.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "sim/rings/port_chain.hpp"
#include "sim/rings/way_facts.hpp"

namespace tessera::sim {

class StateList;

class RingPath {
 public:
  using Posted = PostedMessage;

  RingPath(WayTable& ways, std::vector<machine::LinkId> links);

  [[nodiscard]] WayFacts& facts() const { return *facts_; }
  [[nodiscard]] const std::vector<machine::LinkId>& links() const { return links_; }
  /// What the links were busy with last, which may be in their queues still; all that counts is in the counts of
  /// others.
  void begin(const std::vector<BusyPeriod>& busy, const std::vector<ShortEnds>& short_ends);
  /// rewind() goes back to here.
  void mark();
  void rewind();

  /// Posts a message, of a number of WayFacts::size_of, no earlier than the one before: when it is delivered.
  [[nodiscard]] Time send(Time at, std::uint32_t size) {
    if (at < clear_at_ || is_among_) [[unlikely]]
      return is_among_ ? send_among(at, size) : send_behind(at, size);
    if (!burst_.empty()) [[unlikely]]
      close_burst();
    return send_alone(at, size);
  }

  /// Posts so many of them, the first one when all links are idle, and each other one so long after the one before
  /// that they are again.
  void send_in_turn(Time at, std::uint32_t size, std::uint32_t count, Time every) {
    static_cast<void>(send(at, size));
    passed_[size] += count - 1;
    last_at_ += (count - 1) * every;
    clear_at_ = last_at_ + facts_->lone(size).clear;
  }

  /// A message posted from then on provably finds all links idle.
  [[nodiscard]] Time clear_at() const { return clear_at_; }
  /// When the last message is delivered; when the links were busy before, where there is none.
  [[nodiscard]] Time delivered() const;
  /// When the last message has left the first link.
  [[nodiscard]] Time left() const;
  /// What the links are busy with behind the last message.
  [[nodiscard]] std::vector<BusyPeriod> busy() const;
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
  [[nodiscard]] PortChain::Announced let_pass(const UnderWay& under_way, const Guest& guest) const;
  /// It comes later than what has been sent up to the mark: what is sent from there on meets it.
  void add_guest(const Guest& guest);
  /// Guests that come behind all that has been sent.
  void take_in_guests();
  [[nodiscard]] std::size_t guests() const { return guests_.size(); }
  /// Goes on where another one like it has come to.
  void go_on_from(const RingPath& other);
  void list(StateList& list);  ///< sim/periods

 private:
  static constexpr std::uint32_t none = WayFacts::none;

  [[nodiscard]] Time send_behind(Time at, std::uint32_t size);
  [[nodiscard]] Time send_among(Time at, std::uint32_t size);
  [[nodiscard]] Time send_alone(Time at, std::uint32_t size) {
    last_at_ = at;
    last_ = size;
    const Passage& lone = facts_->lone(size);
    if (passed_.size() <= size) [[unlikely]]
      passed_.resize(size + 1);
    ++passed_[size];
    clear_at_ = saturating_add(at, lone.clear);
    return saturating_add(at, lone.delivered);
  }
  void take_in_before(Time at);
  void join_burst(const Guest& guest);
  [[nodiscard]] Time pass_again();
  void put_away();
  [[nodiscard]] bool is_over() const;
  [[nodiscard]] bool has_burst() const { return !burst_.empty() || !burst_guests_.empty(); }
  void begin_burst();
  [[nodiscard]] bool find_known(Time at, std::uint32_t size);
  [[nodiscard]] Time pass(Time at, std::int64_t bytes);
  void close_burst();
  void keep_last();

  WayFacts* facts_;
  Time clear_at_ = 0;
  Time last_at_ = 0;
  std::uint32_t last_ = none;          // the last message, where it found all idle
  std::vector<std::int64_t> passed_;   // messages that did, by size
  std::vector<Posted> burst_;          // the last messages, which did not all find the links idle
  std::vector<Guest> burst_guests_;    // among them
  std::uint32_t known_ = none;         // the burst, where WayFacts knows it
  std::vector<BusyPeriod> before_;     // of the links: before the burst
  std::vector<BusyPeriod> busy_;       // behind a burst that is not known, or at the beginning
  std::vector<BusyPeriod> begun_;      // at the beginning
  std::vector<ShortEnds> short_ends_;  // in begun_
  std::vector<LinkCounts> counts_;     // of bursts that are over
  UnderWay kept_;                      // before the last message or burst: see send_until()
  Time last_delivery_ = 0;             // of send_until() ...
  Time end_ = never;                   // ... and what it is asked for
  std::vector<std::int64_t> marked_;   // of passed_: those before the mark
  struct Mark {
    Time clear_at = 0;
    Time last_at = 0;
    std::uint32_t last = none;
    bool has_bursts = false;
    std::uint32_t known = none;
    std::vector<Posted> burst;
    std::vector<Guest> burst_guests;
    std::vector<BusyPeriod> before, busy;
    std::vector<LinkCounts> counts;
  };
  Mark mark_;
  bool has_bursts_ = false;    // since begin()
  bool is_among_ = false;      // a guest may meet what is sent next
  std::vector<Guest> guests_;  // since the mark
  std::size_t next_guest_ = 0;
  std::vector<machine::LinkId> links_;
  const NetworkTables* tables_;
};

}  // namespace tessera::sim
