// What a device promises other ranks.
#include <algorithm>

#include "sim/execution/device.hpp"

namespace tessera::sim {

// The earliest times of what a stream does next, given that nothing comes before `from`.
Distance Device::ahead(const Stream& stream, Time from) const {
  const Time start = std::max(stream.clock, from);
  const bool not_begun = (stream.state == StreamState::until_clock && stream.launched == 0) ||
                         (stream.state == StreamState::computes && !config_.shares_compute);
  const CollectiveRun& collective = stream.collective;
  if (collective.phase == CollectiveRun::Phase::none) return later(handed_.distances->from(stream, !not_begun), start);
  Distance behind = handed_.distances->from(stream, true);
  // A ring that is known to end then ends no earlier if others come between: each of its messages has a link of the
  // ring before it, and whatever shares that with it can only delay it.
  const bool crosses = handed_.distances->collective_crosses(collective.index);
  if (collective.phase == CollectiveRun::Phase::ring && !crosses)
    return later(behind, std::max(start, collective.ended));
  if (crosses) behind.crossing = 0;
  if (handed_.distances->collective_shares(collective.index)) behind.sharing = 0;
  if (handed_.distances->collective_spans(collective.index)) behind.joining = 0;
  return later(behind, start);
}

// Whether a stream goes on only when a message of a collective across ranks has come.
bool Device::awaits_ranks(const Stream& stream) const {
  const CollectiveRun& collective = stream.collective;
  if (collective.phase == CollectiveRun::Phase::none || !handed_.distances->collective_spans(collective.index))
    return false;
  if (stream.state == StreamState::ring) return collective.ended == 0;  // not known yet
  if (stream.state != StreamState::strands) return stream.state == StreamState::messages;
  return std::ranges::all_of(state_.strands, [&](const Stream& strand) {
    return strand.parent != stream.index || strand.state == StreamState::done || strand.state == StreamState::messages;
  });
}

// The earliest times of what all streams do next. Those that wait for other ranks go on at `answer`.
Distance Device::ahead_of_all(Time from, Time answer) const {
  Distance first;
  const auto take = [&](const Distance& next) {
    first.crossing = std::min(first.crossing, next.crossing);
    first.sharing = std::min(first.sharing, next.sharing);
    first.joining = std::min(first.joining, next.joining);
  };
  Time signal = never;
  for (const Stream& stream : state_.streams) {
    if (stream.state == StreamState::done || stream.state == StreamState::event) continue;
    const Time begin = awaits_ranks(stream) ? std::max(from, answer) : from;
    if (begin == never) continue;
    const Distance next = ahead(stream, begin);
    take(next);
    signal = std::min(signal, next.signal);
  }
  // A stream that waits for a signal gets it from one that does not wait for any, directly or not.
  for (const Stream& stream : state_.streams) {
    if (stream.state == StreamState::event && signal != never) take(ahead(stream, std::max(from, signal)));
  }
  return first;
}

// Whatever comes from others must change nothing, so nothing of theirs may pass.
Time Device::earliest_output(Time from, Time latency) const {
  const Distances* distances = environment().distances;
  const bool promises = distances != nullptr && !distances->has_kernels() && !distances->is_transit(config_.self);
  return promises ? earliest_crossing(from, from, latency) : saturating_add(from, latency);
}

Time Device::earliest_crossing(Time from, Time answer, Time latency) const {
  const bool is_transit = environment().distances->is_transit(config_.self);
  if (state_.streams.empty() && !is_transit) return never;
  const Distance next = ahead_of_all(from, answer);
  Time crossing = next.crossing;
  const auto& ports = node_.ports();
  for (std::size_t port = 0; port < ports.size(); ++port) {
    if (!port_may_tell(port)) continue;
    crossing = std::min(crossing, std::max(from, ports[port]->next_announcement()));
    if (ports[port]->may_amend(from)) crossing = std::min(crossing, next.sharing);
  }
  return saturating_add(crossing, latency);
}

std::optional<Time> Device::crossing_behind_answer(Time from) const {
  const auto waits = [&](const Stream& stream) {
    if (stream.state == StreamState::done) return true;
    return stream.clock <= from && (stream.state == StreamState::event || awaits_ranks(stream));
  };
  if (!std::ranges::all_of(state_.streams, waits)) return std::nullopt;
  const auto& ports = node_.ports();
  for (std::size_t port = 0; port < ports.size() && !state_.streams.empty(); ++port) {
    const bool is_quiet = ports[port]->next_announcement() == never && !ports[port]->may_amend(from);
    if (port_may_tell(port) && !is_quiet) return std::nullopt;
  }
  if (state_.streams.empty())
    return environment().distances->is_transit(config_.self) ? std::nullopt : std::optional(never);
  const Time crossing = ahead_of_all(from, from).crossing;
  return crossing == never ? never : crossing - from;
}

Time Device::earliest_joining(Time from) const { return ahead_of_all(from, never).joining; }

}  // namespace tessera::sim
