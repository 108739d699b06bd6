// What a device promises other ranks.
#include <algorithm>

#include "sim/execution/device.hpp"

namespace tessera::sim {
namespace {

Distance at_times(const Distance& distance, Time start) {
  return {saturating_add(distance.crossing, start), saturating_add(distance.sharing, start),
          saturating_add(distance.signal, start), saturating_add(distance.end, start)};
}

}  // namespace

// The earliest times of what a stream does next, given that nothing comes before `from`.
Distance Device::ahead(const Stream& stream, Time from) const {
  const Time start = std::max(stream.clock, from);
  const bool not_begun = (stream.state == StreamState::until_clock && stream.launched == 0) ||
                         (stream.state == StreamState::computes && !config_.shares_compute);
  const CollectiveRun& collective = stream.collective;
  if (collective.phase == CollectiveRun::Phase::none)
    return at_times(handed_.distances->from(stream, !not_begun), start);
  Distance behind = handed_.distances->from(stream, true);
  if (handed_.distances->collective_crosses(collective.index)) behind.crossing = 0;
  if (handed_.distances->collective_shares(collective.index)) behind.sharing = 0;
  return at_times(behind, start);
}

Time Device::earliest_output(Time from, Time latency) const {
  if (state_.streams.empty() && environment().distances != nullptr &&
      !environment().network.wiring->may_pass(config_.self))
    return never;
  if (handed_.distances == nullptr) return saturating_add(from, latency);
  Time crossing = never;
  Time sharing = never;
  Time signal = never;
  const auto take = [&](const Distance& next) {
    crossing = std::min(crossing, next.crossing);
    sharing = std::min(sharing, next.sharing);
  };
  for (const Stream& stream : state_.streams) {
    if (stream.state == StreamState::done || stream.state == StreamState::event) continue;
    const Distance next = ahead(stream, from);
    take(next);
    signal = std::min(signal, next.signal);
  }
  // A stream that waits for a signal gets it from one that does not wait for any, directly or not.
  for (const Stream& stream : state_.streams) {
    if (stream.state == StreamState::event && signal != never) take(ahead(stream, std::max(from, signal)));
  }
  const auto& ports = node_.ports();
  for (std::size_t port = 0; port < ports.size(); ++port) {
    if (!handed_.distances->port_crosses(port)) continue;
    crossing = std::min(crossing, std::max(from, ports[port].next_announcement()));
    if (ports[port].may_amend(from)) crossing = std::min(crossing, sharing);
  }
  return saturating_add(crossing, latency);
}

}  // namespace tessera::sim
