// What all ranks agree on: the minimum of each of their standings.
#pragma once

#include <algorithm>
#include <array>

#include "synchroniser.hpp"

namespace tessera::pdes {

/// The values that are reduced by minimum over all ranks.
struct Agreement {
  std::array<std::int64_t, 4> values;

  /// Events on their way count as pending.
  Agreement(const Standing& mine, const detail::Kernel& kernel)
      : values{mine.next_event, mine.promise, mine.failure, mine.interrupted ? 0 : 1} {
    for (const detail::Outbox& box : kernel.outboxes) values[0] = std::min(values[0], box.earliest);
  }

  [[nodiscard]] Time next_event() const { return values[0]; }
  [[nodiscard]] Time promise() const { return values[1]; }

  /// Nothing is left to do before the end. After an error all ranks go on up to its time, since a smaller one may
  /// follow.
  [[nodiscard]] bool finished(Time end) const {
    const bool interrupted = values[3] == 0;
    return interrupted || next_event() >= end || next_event() > values[2];
  }
};

}  // namespace tessera::pdes
