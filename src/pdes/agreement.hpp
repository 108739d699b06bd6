// What all ranks agree on: the minimum of each of their standings.
#pragma once

#include <algorithm>
#include <array>

#include "synchroniser.hpp"

namespace tessera::pdes {

/// The values that are reduced by minimum over all ranks.
struct Agreement {
  static constexpr int size = 4;
  std::array<std::int64_t, size> values{};

  Agreement() = default;
  /// Events on their way count as pending.
  Agreement(const Standing& mine, const detail::Kernel& kernel)
      : values{mine.next_event, mine.promise, mine.failure, mine.interrupted ? 0 : 1} {
    for (const detail::Outbox& box : kernel.outboxes) values[0] = std::min(values[0], box.earliest);
  }

  void take_minimum(const std::int64_t* others) {
    for (std::size_t i = 0; i < size; ++i) values[i] = std::min(values[i], others[i]);
  }

  [[nodiscard]] Time next_event() const { return values[0]; }
  /// Nothing that crosses ranks from now on takes place earlier: it comes from an event, or somebody promised more.
  [[nodiscard]] Time horizon(Time lookahead) const { return std::max(saturating_add(values[0], lookahead), values[1]); }

  /// Nothing is left to do before the end. After an error all ranks go on up to its time, since a smaller one may
  /// follow.
  [[nodiscard]] bool finished(Time end) const {
    const bool interrupted = values[3] == 0;
    return interrupted || next_event() >= end || next_event() > values[2];
  }
};

}  // namespace tessera::pdes
