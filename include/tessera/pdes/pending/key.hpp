// What a pending-event set keeps: the time and where the event lies; the event itself does not move.
#pragma once

#include <concepts>
#include <cstdint>

#include "tessera/pdes/detail/event_pool.hpp"

namespace tessera::pdes {

/// 16 bytes: four to a cache line.
struct PendingKey {
  Time time = 0;
  std::uint32_t slot = 0;   ///< of the event in its EventPool
  std::uint32_t place = 0;  ///< the destination's place on its rank, so that it can be fetched ahead of its event
};
static_assert(sizeof(PendingKey) == 16);

/// The total order over keys; only equal times look at the events.
class KeyOrder {
 public:
  explicit KeyOrder(const detail::EventPool& events) : events_(&events) {}
  [[nodiscard]] bool operator()(const PendingKey& a, const PendingKey& b) const {
    if (a.time != b.time) [[likely]]
      return a.time < b.time;
    return before((*events_)[a.slot], (*events_)[b.slot]);
  }

 private:
  const detail::EventPool* events_;
};

/// A pending-event set: pop() takes the smallest key in the total order of those that are in it.
template <class Set>
concept PendingSet = std::constructible_from<Set, const detail::EventPool&> && requires(Set set, PendingKey key) {
  set.push(key);
  { set.next_time() } -> std::same_as<Time>;  // never: empty
  { set.pop() } -> std::same_as<PendingKey>;  // not empty
  { set.size() } -> std::convertible_to<std::size_t>;
};

}  // namespace tessera::pdes
