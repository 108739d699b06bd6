#include "sim/laws/trains/packet_rounds.hpp"

#include <numeric>

namespace tessera::sim {

bool PacketRounds::add(const PacketTimes& flow, const Rate& rate) {
  constexpr std::int64_t most_packets = 512;
  if (flow.count == 1) return true;
  if (rate_ == nullptr) {
    rate_ = &rate;
    stride_ = flow.stride;
    packets_ = 1;
    return true;
  }
  if (rate_ != &rate && !(*rate_ == rate)) return false;
  const std::int64_t common = std::gcd(stride_, flow.stride);
  const std::int64_t own_packets = stride_ / common;
  const std::int64_t longer = flow.stride / common;
  if (own_packets > most_packets || longer > most_packets) return false;
  if (packets_ * longer + own_packets > most_packets) return false;
  stride_ *= longer;
  packets_ = packets_ * longer + own_packets;
  return true;
}

}  // namespace tessera::sim
