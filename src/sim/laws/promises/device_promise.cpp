// What a device promises other ranks.
#include <algorithm>

#include "sim/laws/promises/device_promise.hpp"

namespace tessera::sim {

// The earliest times of what a stream does next, given that nothing comes before `from`.
Distance DevicePromise::ahead(const Stream& stream, Time from) const {
  const Time start = std::max(stream.clock, from);
  const bool not_begun = (stream.state == StreamState::until_clock && stream.launched == 0) ||
                         (stream.state == StreamState::computes && !view_.config.shares_compute);
  const CollectiveRun& collective = stream.collective;
  if (collective.phase == CollectiveRun::Phase::none) return later(table_->from(stream, !not_begun), start);
  Distance behind = table_->from(stream, true);
  // A ring that is known to end then ends no earlier if others come between: each of its messages has a link of the
  // ring before it, and whatever shares that with it can only delay it.
  const bool crosses = table_->collective_crosses(collective.index);
  if (collective.phase == CollectiveRun::Phase::taken_over && !crosses)
    return later(behind, std::max(start, collective.ended));
  if (crosses) behind.crossing = 0;
  if (table_->collective_shares(collective.index)) behind.sharing = 0;
  if (table_->collective_spans(collective.index)) behind.joining = 0;
  return later(behind, start);
}

// Whether a stream goes on only when a message of a collective across ranks has come.
bool DevicePromise::awaits_ranks(const Stream& stream) const {
  const CollectiveRun& collective = stream.collective;
  if (collective.phase == CollectiveRun::Phase::none || !table_->collective_spans(collective.index)) return false;
  if (stream.state == StreamState::taken_over) return collective.ended == 0;  // not known yet
  if (stream.state != StreamState::strands) return stream.state == StreamState::messages;
  return std::ranges::all_of(view_.state.strands, [&](const Stream& strand) {
    return strand.parent != stream.index || strand.state == StreamState::done || strand.state == StreamState::messages;
  });
}

// The earliest times of what all streams do next. Those that wait for other ranks go on at `answer`.
Distance DevicePromise::ahead_of_all(Time from, Time answer) const {
  Distance first;
  const auto take = [&](const Distance& next) {
    first.crossing = std::min(first.crossing, next.crossing);
    first.sharing = std::min(first.sharing, next.sharing);
    first.joining = std::min(first.joining, next.joining);
  };
  Time signal = never;
  for (const Stream& stream : view_.state.streams) {
    if (stream.state == StreamState::done || stream.state == StreamState::event) continue;
    const Time begin = awaits_ranks(stream) ? std::max(from, answer) : from;
    if (begin == never) continue;
    const Distance next = ahead(stream, begin);
    take(next);
    signal = std::min(signal, next.signal);
  }
  // A stream that waits for a signal gets it from one that does not wait for any, directly or not.
  for (const Stream& stream : view_.state.streams) {
    if (stream.state == StreamState::event && signal != never) take(ahead(stream, std::max(from, signal)));
  }
  return first;
}

// Whatever comes from others must change nothing, so nothing of theirs may pass.
Time DevicePromise::earliest_output(Time from, Time latency) const {
  return distances_->has_kernels() || is_transit() ? saturating_add(from, latency)
                                                   : earliest_crossing(from, from, latency);
}

Time DevicePromise::earliest_crossing(Time from, Time answer, Time latency) const {
  if (view_.state.streams.empty() && !is_transit()) return never;
  const Distance next = ahead_of_all(from, answer);
  Time crossing = next.crossing;
  const auto& ports = view_.node.ports();
  for (std::size_t port = 0; port < ports.size(); ++port) {
    if (!port_may_tell(port)) continue;
    crossing = std::min(crossing, std::max(from, ports[port]->next_announcement()));
    if (ports[port]->may_amend(from)) crossing = std::min(crossing, next.sharing);
  }
  return saturating_add(crossing, latency);
}

std::optional<Time> DevicePromise::crossing_behind_answer(Time from) const {
  const auto waits = [&](const Stream& stream) {
    if (stream.state == StreamState::done) return true;
    return stream.clock <= from && (stream.state == StreamState::event || awaits_ranks(stream));
  };
  if (!std::ranges::all_of(view_.state.streams, waits)) return std::nullopt;
  const auto& ports = view_.node.ports();
  for (std::size_t port = 0; port < ports.size() && !view_.state.streams.empty(); ++port) {
    const bool is_quiet = ports[port]->next_announcement() == never && !ports[port]->may_amend(from);
    if (port_may_tell(port) && !is_quiet) return std::nullopt;
  }
  if (view_.state.streams.empty()) return is_transit() ? std::nullopt : std::optional(never);
  const Time crossing = ahead_of_all(from, from).crossing;
  return crossing == never ? never : crossing - from;
}

Time DevicePromise::earliest_joining(Time from) const { return ahead_of_all(from, never).joining; }

}  // namespace tessera::sim
