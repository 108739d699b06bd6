// Times of a train of packets in closed form.
#pragma once

#include <cstdint>

#include "sim/network/rate.hpp"
#include "tessera/machine/machine.hpp"

namespace tessera::sim {

/// Times of packets 0 .. count-1, which never decrease: packet i < count-1 at base + ceil((offset + i stride) / rate),
/// the last one at `last`. All are of the network's packet size but the last, which has `last_bytes`.
struct PacketTimes {
  Time base = 0;
  std::int64_t offset = 0;  ///< B
  std::int64_t stride = 0;  ///< B: the packet size, or a multiple of it where messages take turns
  Time last = 0;
  std::int64_t last_bytes = 0;  ///< at most one packet
  std::uint32_t count = 0;
  machine::LinkId rate = 0;  ///< the link whose bandwidth the packets keep to

  [[nodiscard]] Time at(std::uint32_t index, const Rate& speed) const {
    return index + 1 == count ? last : of_form(index, speed);
  }
  /// By the closed form, which may not be that of the last one.
  [[nodiscard]] Time of_form(std::uint32_t index, const Rate& speed) const {
    return time_after(base, speed.up(offset + static_cast<std::int64_t>(index) * stride));
  }

  /// Number of packets with a time <= `time`.
  [[nodiscard]] std::uint32_t until(Time time, const Rate& speed) const {
    if (count == 0 || last <= time) return count;
    if (time < base) return 0;
    const std::int64_t bytes = speed.within(time - base) - offset;
    if (bytes < 0) return 0;
    const std::int64_t packets = bytes / stride + 1;
    return packets < count - 1 ? static_cast<std::uint32_t>(packets) : count - 1;
  }

  /// Drops the first `packets`.
  void advance(std::uint32_t packets) {
    offset += packets * stride;
    count -= packets;
  }

  /// Keeps the first `packets` of more.
  void truncate(std::uint32_t packets, const Rate& speed, std::int64_t packet) {
    if (packets >= count) return;
    if (packets > 0) {
      last = at(packets - 1, speed);
      last_bytes = packet;
    }
    count = packets;
  }

  void delay(Time time) {
    last = time_after(last, time);  // the latest of all
    base += time;
  }

  [[nodiscard]] std::int64_t bytes(std::uint32_t packets, std::int64_t packet) const {
    return packets == count ? (count - 1) * packet + last_bytes : packets * packet;
  }
};

}  // namespace tessera::sim
