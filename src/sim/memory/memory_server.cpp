#include "sim/memory/memory_server.hpp"

#include <algorithm>

namespace tessera::sim {

void MemoryServer::add(Time now, const MemoryUser& of, std::int64_t bytes) {
  serve(now);
  auto place = state_.line.end();
  while (place != state_.line.begin()) {
    const MemoryFlow& before = *std::prev(place);
    if (!before.is_new || before.came != now || before.of < of) break;
    --place;
  }
  state_.line.insert(place, {of, bytes, now, true});
}

// All turns are whole packets but a flow's last one. The first to end is the one with the fewest packets left, of
// several the one that comes first in the line.
std::optional<MemoryServer::End> MemoryServer::next_end() const {
  if (is_idle()) return std::nullopt;
  std::size_t first = 0;
  std::int64_t fewest = packets(state_.line[0]);
  for (std::size_t i = 1; i < state_.line.size(); ++i) {
    const std::int64_t left = packets(state_.line[i]);
    if (left < fewest) first = i, fewest = left;
  }
  const auto flows = static_cast<std::int64_t>(state_.line.size());
  const std::int64_t turns = (fewest - 1) * (flows - 1) + static_cast<std::int64_t>(first);
  const std::int64_t bytes = turns * packet_ + state_.line[first].bytes;
  BusyPeriod busy = busy_before_line();
  busy.bytes += bytes;
  return End{state_.line[first].of, busy.end(rate_)};
}

// In which what is in line is served, with whatever was served before.
BusyPeriod MemoryServer::busy_before_line() const {
  BusyPeriod busy = with_room(state_.busy, rate_);
  if (state_.serving) {
    busy.bytes -= packet_of(state_.line[0]);
  } else if (!is_idle() && state_.line[0].came > free_at()) {
    busy = {state_.line[0].came, 0};
  }
  return busy;
}

Time MemoryServer::end_of(std::int64_t bytes) const {
  BusyPeriod busy = busy_before_line();
  busy.bytes += bytes;
  return busy.end(rate_);
}

BusyPeriod MemoryServer::busy_behind_all() const {
  BusyPeriod busy = busy_before_line();
  for (const MemoryFlow& flow : state_.line) busy.bytes += flow.bytes;
  return busy;
}

std::optional<MemoryServer::End> MemoryServer::end_until(Time until) {
  const std::optional<End> end = next_end();
  if (!end || end->at > until) {
    serve(until);
    return std::nullopt;
  }
  serve(end->at);
  while (serves(end->of)) serve_one();  // what takes no whole picosecond may begin and end at that time
  return end;
}

// Packets that begin before `until`; one that could begin at that time waits for who else comes then.
void MemoryServer::serve(Time until) {
  while (!is_idle()) {
    if (state_.serving ? free_at() > until : next_begins() >= until) return;
    if (!state_.serving && takes_rounds_) serve_rounds(until);
    serve_one();
  }
}

// The packet in service ends, or the next one begins.
void MemoryServer::serve_one() {
  if (state_.serving) return end_packet();
  begin_period();
  state_.busy.bytes += packet_of(state_.line[0]);
  state_.serving = true;
}

void MemoryServer::begin_period() {
  state_.busy = next_begins() > free_at() ? BusyPeriod{next_begins(), 0} : with_room(state_.busy, rate_);
}

bool MemoryServer::serves(const MemoryUser& one) const {
  return std::ranges::find(state_.line, one, &MemoryFlow::of) != state_.line.end();
}

void MemoryServer::end_packet() {
  MemoryFlow flow = state_.line[0];
  flow.bytes -= packet_of(flow);
  flow.is_new = false;
  flow.came = free_at();
  state_.serving = false;
  state_.line.erase(state_.line.begin());
  if (flow.bytes > 0) state_.line.push_back(flow);
}

// After a round of whole packets the line is as before.
void MemoryServer::serve_rounds(Time until) {
  begin_period();
  std::int64_t rounds = packets(state_.line[0]);
  for (const MemoryFlow& flow : state_.line) rounds = std::min(rounds, packets(flow));
  const std::int64_t round = packet_ * static_cast<std::int64_t>(state_.line.size());
  const std::int64_t served = rate_.within(until - 1 - state_.busy.start) - state_.busy.bytes;
  rounds = std::min(rounds - 1, served / round);
  if (rounds <= 0) return;
  state_.busy.bytes += rounds * round;
  for (MemoryFlow& flow : state_.line) {
    flow.bytes -= rounds * packet_;
    flow.is_new = false;
  }
}

}  // namespace tessera::sim
