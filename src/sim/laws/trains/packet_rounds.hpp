// Which flows may take turns in a server.
#pragma once

#include <cstdint>

#include "sim/network/packet_times.hpp"

namespace tessera::sim {

/// Which flows may be served together: all of one rate, with spacings so alike that a round of them, in which each
/// sends as many packets as its spacing allows (spacings of 3 and 5 packets: 5 and 3), is short. One that has a single
/// packet left, at a time of its own, goes with any.
class PacketRounds {
 public:
  /// Takes a flow in; false: it is of another rate, or rounds would be too long.
  [[nodiscard]] bool add(const PacketTimes& flow, const Rate& rate);
  /// Of a whole round, in bytes at the rate of the flows; 0: all are single packets.
  [[nodiscard]] std::int64_t stride() const { return stride_; }
  /// Null: as above.
  [[nodiscard]] const Rate* rate() const { return rate_; }

  bool operator==(const PacketRounds&) const = default;

 private:
  std::int64_t stride_ = 0;
  std::int64_t packets_ = 0;  // of a round
  const Rate* rate_ = nullptr;
};

}  // namespace tessera::sim
