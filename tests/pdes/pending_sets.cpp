// The contract of the pending-event sets: each pops what std::priority_queue pops, whatever the times look like.
#include <catch2/catch.hpp>
#include <functional>
#include <queue>
#include <tuple>

#include "calendar_queue.hpp"
#include "relay_model.hpp"
#include "tessera/pdes/pending/heap.hpp"
#include "tessera/pdes/pending/ladder_queue.hpp"

namespace {

using namespace tessera;
using namespace tessera::pdes;
using pdes::test::mix;

/// A set and the queue that is known to be right, driven together.
template <PendingSet Set>
class Duel {
 public:
  void push(Time time) {
    Event event;
    event.time = time;
    event.source = static_cast<ComponentId>(mix(pushed_, 7) % 5);
    event.sequence = pushed_++;
    const std::uint32_t slot = events_.allocate();
    events_[slot] = event;
    set_.push({time, slot, event.sequence});
    right_.push(event);
  }

  void pop() {
    const Event expected = right_.top();
    right_.pop();
    REQUIRE(set_.next_time() == expected.time);
    const PendingKey key = set_.pop();
    const Event& popped = events_[key.slot];
    // Times may be equal; source and sequence say that it is the very event.
    const bool same = key.time == expected.time && popped.source == expected.source &&
                      popped.sequence == expected.sequence && key.place == expected.sequence;
    REQUIRE(same);
    events_.release(key.slot);
    now_ = expected.time;
  }

  void drain() {
    while (!right_.empty()) pop();
    REQUIRE(set_.next_time() == never);
    REQUIRE(set_.size() == 0);
  }

  [[nodiscard]] Time now() const { return now_; }
  [[nodiscard]] std::size_t size() const { return right_.size(); }
  [[nodiscard]] std::uint64_t random() { return mix(draws_++, 99); }

 private:
  struct Later {
    bool operator()(const Event& a, const Event& b) const { return before(b, a); }
  };
  detail::EventPool events_;
  Set set_{events_};
  std::priority_queue<Event, std::vector<Event>, Later> right_;
  std::uint32_t pushed_ = 0;
  std::uint64_t draws_ = 0;
  Time now_ = 0;
};

/// Holds `pending` events for `turns` turns; `delay` draws how much later than now the next one is.
template <class Set>
void hold(std::size_t pending, std::size_t turns, const std::function<Time(std::uint64_t)>& delay) {
  Duel<Set> duel;
  while (duel.size() < pending) duel.push(delay(duel.random()));
  for (std::size_t turn = 0; turn < turns; ++turn) {
    duel.pop();
    duel.push(duel.now() + delay(duel.random()));
  }
  duel.drain();
}

using PendingSets = std::tuple<Heap<2>, Heap<4>, bench::CalendarQueue, LadderQueue>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("an empty set has no next time, before and after use", "[pending]", PendingSets) {
  Duel<TestType> duel;
  duel.drain();
  duel.push(5);
  duel.drain();
  duel.push(3);  // earlier than what was popped before: a set knows nothing of the clock
  duel.drain();
}

TEMPLATE_LIST_TEST_CASE("uniform delays at several sizes", "[pending]", PendingSets) {
  for (const std::size_t pending : {1, 2, 10, 1000, 30'000}) {
    hold<TestType>(pending, 30'000, [](std::uint64_t random) { return static_cast<Time>(random % 1'000'000); });
  }
}

TEMPLATE_LIST_TEST_CASE("few distinct times: thousands of events at one time", "[pending]", PendingSets) {
  hold<TestType>(5'000, 10'000, [](std::uint64_t random) { return static_cast<Time>(random % 3); });
  hold<TestType>(2'000, 4'000, [](std::uint64_t) { return Time{0}; });
  hold<TestType>(5'000, 20'000, [](std::uint64_t random) { return static_cast<Time>(random % 4) * millisecond; });
}

TEMPLATE_LIST_TEST_CASE("long tails: most events are near, a few are very far", "[pending]", PendingSets) {
  hold<TestType>(3'000, 20'000, [](std::uint64_t random) {
    return random % 100 == 0 ? static_cast<Time>(random % second) : static_cast<Time>(random % 1'000);
  });
  hold<TestType>(3'000, 20'000, [](std::uint64_t random) { return Time{1} << (random % 45); });
}

TEMPLATE_LIST_TEST_CASE("a burst into the span that is being worked off", "[pending]", PendingSets) {
  Duel<TestType> duel;
  for (int i = 0; i < 100; ++i) duel.push(static_cast<Time>(i) * millisecond);
  duel.pop();
  // All of these are earlier than the second event, and arrive while the first batch is sorted already.
  for (int i = 0; i < 20'000; ++i) duel.push(duel.now() + static_cast<Time>(duel.random() % nanosecond));
  for (int i = 0; i < 10'000; ++i) duel.pop();
  for (int i = 0; i < 20'000; ++i) duel.push(duel.now() + static_cast<Time>(duel.random() % microsecond));
  duel.drain();
}

TEMPLATE_LIST_TEST_CASE("every event of a large batch at one time makes another at that time", "[pending]",
                        PendingSets) {
  Duel<TestType> duel;
  for (int i = 0; i < 4'000; ++i) duel.push(1'000);
  for (int i = 0; i < 12'000; ++i) {
    duel.pop();
    if (i < 8'000) duel.push(duel.now());
  }
  duel.drain();
}

TEMPLATE_LIST_TEST_CASE("growing and shrinking by turns", "[pending]", PendingSets) {
  Duel<TestType> duel;
  for (int wave = 0; wave < 6; ++wave) {
    for (int i = 0; i < 5'000 * (wave + 1); ++i)
      duel.push(duel.now() + static_cast<Time>(duel.random() % (microsecond << (3 * wave))));
    while (duel.size() > 100) duel.pop();
  }
  duel.drain();
}

TEMPLATE_LIST_TEST_CASE("times up to the end of time", "[pending]", PendingSets) {
  Duel<TestType> duel;
  for (int i = 0; i < 3'000; ++i) duel.push(never - 1 - static_cast<Time>(duel.random() % 5));
  for (int i = 0; i < 3'000; ++i)
    duel.push(static_cast<Time>(duel.random() >> 1) - 1 > 0 ? static_cast<Time>(duel.random() >> 2) : 0);
  duel.drain();
}
