// What all ranks agree on: the minimum of each of their standings.
#pragma once

#include <algorithm>
#include <array>

#include "synchroniser.hpp"

namespace tessera::pdes {

/// The values that are reduced by minimum over all ranks.
struct Agreement {
  static constexpr int size = 5;
  std::array<std::int64_t, size> values{};

  Agreement() = default;
  /// Events on their way count as pending; and their receivers, who have not heard of them, may answer.
  Agreement(const Standing& mine, const detail::Kernel& kernel, Time lookahead)
      : values{mine.next_event, mine.promise, mine.unprompted, mine.failure, mine.interrupted ? 0 : 1} {
    Time sent = never;
    for (const detail::Outbox& box : kernel.outboxes) sent = std::min(sent, box.earliest);
    values[0] = std::min(values[0], sent);
    values[2] = std::min(values[2], saturating_add(sent, lookahead));
  }

  void take_minimum(const std::int64_t* others) {
    for (std::size_t i = 0; i < size; ++i) values[i] = std::min(values[i], others[i]);
  }

  [[nodiscard]] Time next_event() const { return values[0]; }
  /// Nothing that crosses ranks from now on takes place earlier. Any of three reasons is enough: it comes from an
  /// event; everybody has promised more, whatever comes; or everybody has promised more as long as nothing else
  /// crosses: the earliest message that crosses is caused by none that crosses later, nor, so early, by one on its way.
  [[nodiscard]] Time horizon(Time lookahead) const {
    return std::max({saturating_add(values[0], lookahead), values[1], values[2]});
  }

  [[nodiscard]] bool interrupted() const { return values[4] == 0; }

  /// Nothing is left to do before the end. After an error all ranks go on up to its time, since a smaller one may
  /// follow.
  [[nodiscard]] bool finished(Time end) const {
    return interrupted() || next_event() >= end || next_event() > values[3];
  }
};

}  // namespace tessera::pdes
