// What comes to a port from other nodes or is taken back by them, and the order in which it waits.
#include <algorithm>

#include "sim/network/output_port.hpp"

namespace tessera::sim {
namespace {

constexpr auto later = [](const auto& a, const auto& b) { return b.turn < a.turn; };

}  // namespace

bool OutputPort::arrive(Time now, pdes::ComponentId source, const Segment& segment, PortSink& sink) {
  if (state_.run.active && state_.run.service.out.last <= now) complete_run(sink);
  const bool found = shorten_earlier(now, segment);
  const std::uint32_t stream = add_stream(source, segment);
  const bool wait_for_others = has_company(now) && !takes_no_time(segment.law);
  if (!state_.run.active && state_.waiting.empty() && state_.own.empty() && !wait_for_others) {
    plan_alone(now, stream, sink);
    send_amends(sink);
    return found;
  }
  put_in_line(now, stream);
  wait_for_others ? call_back(now, sink) : go_on(now, source, sink);
  return found;
}

std::uint32_t OutputPort::arrive(Time now, pdes::ComponentId source, const Segments& segments, std::uint32_t taken_back,
                                 PortSink& sink) {
  if (state_.run.active && state_.run.service.out.last <= now) complete_run(sink);
  std::uint32_t not_found = 0;
  for (std::uint32_t i = 0; i < segments.count; ++i) {
    const Segment& segment = segments.all[i];
    if (!shorten_earlier(now, segment)) not_found |= 1U << i;
    if ((taken_back >> i & 1U) != 0) continue;
    put_in_line(now, add_stream(source, segment));
  }
  has_company(now) ? call_back(now, sink) : go_on(now, source, sink);
  return not_found;
}

// Before what has been planned and comes later.
void OutputPort::put_in_line(Time now, std::uint32_t stream) {
  if (state_.run.active) cut_before(now, turn_of(state_.streams[stream]));
  push_waiting(stream);
}

// True: nothing is shortened, or something that is here.
bool OutputPort::shorten_earlier(Time now, const Segment& segment) {
  const auto& [generation, packets] = segment.earlier;
  return !segment.shortens || shorten(now, {segment.name, generation, segment.destination, packets});
}

// Whether a stream that comes now is one of several, as far as the last time tells: all are planned at once, when they
// have come.
bool OutputPort::has_company(Time now) {
  if (tables_->most_together() == 1) return false;
  const bool first = state_.came_at != now;
  const bool several = state_.came_then > 1 || !first;
  state_.came_then = first ? 1 : state_.came_then + 1;
  state_.came_at = now;
  return several;
}

// Whether it may be gone by the time that others have come. Where it finds the port idle it has left before they come.
bool OutputPort::takes_no_time(const Law& law) const { return law.count == 1 && rate().up(law.last_bytes) <= 1; }

bool OutputPort::amend(Time now, pdes::ComponentId source, const Amend& amend, PortSink& sink) {
  if (!shorten(now, amend)) return false;
  go_on(now, source, sink);
  return true;
}

bool OutputPort::shorten(Time now, const Amend& amend) {
  const auto named = [&](const Stream& stream) {
    return stream.segment.law.count > 0 && stream.segment.name == amend.name &&
           stream.segment.generation == amend.generation && stream.segment.destination == amend.destination;
  };
  const auto found = std::find_if(state_.streams.begin(), state_.streams.end(), named);
  // Cut twice, and the second time shorter: that amendment came first, and what it left may have been served since.
  if (found == state_.streams.end()) return false;
  const auto index = static_cast<std::uint32_t>(found - state_.streams.begin());
  const std::uint32_t left = amend.packets - found->served;
  if (state_.run.active && !state_.run.own && !state_.run.shares.empty()) {
    shorten_share(now, index, left);
  } else if (state_.run.active && !state_.run.own && state_.run.stream == index) {
    cut(now, left);
  }
  Law& law = state_.streams[index].segment.law;
  law.truncate(left, tables_->rate(law.rate), tables_->packet());
  state_.streams[index].segment.final = false;
  if (left == 0) {
    remove_waiting(index);
    release_stream(index);
  }
  return true;
}

std::uint32_t OutputPort::add_stream(pdes::ComponentId from, const Segment& segment) {
  const Stream added{segment, 0, from, state_.next_ordinal++};
  if (state_.unused_streams.empty()) {
    state_.streams.push_back(added);
    return static_cast<std::uint32_t>(state_.streams.size() - 1);
  }
  const std::uint32_t index = state_.unused_streams.back();
  state_.unused_streams.pop_back();
  state_.streams[index] = added;
  return index;
}

void OutputPort::release_stream(std::uint32_t stream) {
  state_.streams[stream].segment.law.count = 0;
  state_.unused_streams.push_back(stream);
}

void OutputPort::push_waiting(std::uint32_t stream) {
  // As std::push_heap does, but for the new one in registers: read back in one piece just after it was written in
  // several, it would take longer than all else here.
  const Turn turn = turn_of(state_.streams[stream]);
  auto& waiting = state_.waiting;
  std::size_t place = waiting.size();
  waiting.emplace_back();
  for (; place > 0 && turn < waiting[(place - 1) / 2].turn; place = (place - 1) / 2)
    waiting[place] = waiting[(place - 1) / 2];
  waiting[place].turn = turn;
  waiting[place].stream = stream;
}

std::uint32_t OutputPort::pop_waiting() {
  std::pop_heap(state_.waiting.begin(), state_.waiting.end(), later);
  const std::uint32_t stream = state_.waiting.back().stream;
  state_.waiting.pop_back();
  return stream;
}

void OutputPort::remove_waiting(std::uint32_t stream) {
  const auto found = std::find_if(state_.waiting.begin(), state_.waiting.end(),
                                  [stream](const PortState::Waiting& waiting) { return waiting.stream == stream; });
  if (found == state_.waiting.end()) return;
  state_.waiting.erase(found);
  std::make_heap(state_.waiting.begin(), state_.waiting.end(), later);
}

}  // namespace tessera::sim
