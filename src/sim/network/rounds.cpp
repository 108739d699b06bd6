#include "sim/network/rounds.hpp"

#include <numeric>

namespace tessera::sim {

bool PortTurn::operator<(const PortTurn& other) const {
  if (time != other.time) return time < other.time;
  if (component != other.component) return component < other.component;
  if (link != other.link) return link < other.link;
  return static_cast<std::int32_t>(ordinal - other.ordinal) < 0;
}

bool Rounds::add(const Law& flow, const Rate& rate) {
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
