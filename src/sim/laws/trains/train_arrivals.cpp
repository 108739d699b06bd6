// What comes to a port from other nodes or is taken back by them, and the order in which it waits.
#include <algorithm>

#include "sim/laws/trains/train_port.hpp"

namespace tessera::sim {
namespace {

constexpr auto later = [](const auto& a, const auto& b) { return b.turn < a.turn; };

}  // namespace

bool TrainPort::arrive(Time now, pdes::ComponentId source, const Segment& segment, PortSink& sink) {
  static_cast<void>(state_.work.make());
  if (work().run.active && work().run.service.out.last <= now) complete_run(sink);
  const bool found = shorten_earlier(now, segment);
  const std::uint32_t stream = add_stream(source, segment);
  const bool wait_for_others = has_company(now) && !takes_no_time(segment.times);
  if (!work().run.active && work().waiting.empty() && work().own.empty() && !wait_for_others) {
    plan_alone(now, stream, sink);
    send_amends(sink);
    return found;
  }
  put_in_line(now, stream);
  wait_for_others ? call_back(now, sink) : go_on(now, source, sink);
  return found;
}

std::uint32_t TrainPort::arrive(Time now, pdes::ComponentId source, const Segments& segments, std::uint32_t taken_back,
                                PortSink& sink) {
  static_cast<void>(state_.work.make());
  if (work().run.active && work().run.service.out.last <= now) complete_run(sink);
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

// Before what has been planned and comes later. Where that comes only after the server has waited for it, others come
// between, and probably will again: runs end there until nobody has.
void TrainPort::put_in_line(Time now, std::uint32_t stream) {
  TrainRun& run = work().run;
  if (run.active) {
    const Time planned = run.service.out.last;
    cut_before(now, turn_of(work().streams[stream]));
    if (run.active && !run.own && !run.is_mixed() && run.service.out.last < planned)
      work().stops_at_gaps = is_behind_gap(next_known(), run.service.out.last);
  }
  push_waiting(stream);
}

// True: nothing is shortened, or something that is here.
bool TrainPort::shorten_earlier(Time now, const Segment& segment) {
  const auto& [generation, packets] = segment.earlier;
  return !segment.shortens || shorten(now, {segment.name, generation, segment.destination, packets});
}

// Whether a stream that comes now is one of several, as far as the last time tells: all are planned at once, when they
// have come.
bool TrainPort::has_company(Time now) {
  const bool first = work().came_at != now;
  const bool several = work().came_then > 1 || !first;
  work().came_then = first ? 1 : work().came_then + 1;
  work().came_at = now;
  return several;
}

// Whether it may be gone by the time that others have come. Where it finds the port idle it has left before they come.
bool TrainPort::takes_no_time(const PacketTimes& times) const {
  return times.count == 1 && rate().up(times.last_bytes) <= 1;
}

bool TrainPort::amend(Time now, pdes::ComponentId source, const Amend& amend, PortSink& sink) {
  if (!state_.work.is_made() || !shorten(now, amend)) return false;
  // No packet comes with it, so none leaves at once: those that are told anew may come in this picosecond.
  plan_next(now, source, sink);
  send_amends(sink);
  return true;
}

bool TrainPort::shorten(Time now, const Amend& amend) {
  const auto named = [&](const Stream& stream) {
    return stream.times.count > 0 && stream.name == amend.name && stream.generation == amend.generation &&
           stream.destination == amend.destination;
  };
  const auto found = std::find_if(work().streams.begin(), work().streams.end(), named);
  // Cut twice, and the second time shorter: that amendment came first, and what it left may have been served since.
  if (found == work().streams.end()) return false;
  const auto index = static_cast<std::uint32_t>(found - work().streams.begin());
  const std::uint32_t left = amend.packets - found->served;
  if (work().run.active && !work().run.own && work().run.has_shares()) {
    shorten_share(now, index, left);
  } else if (work().run.active && !work().run.own && work().run.stream == index) {
    cut(now, left);
  }
  PacketTimes& times = work().streams[index].times;
  times.truncate(left, tables_->rate(times.rate), tables_->packet());
  work().streams[index].final = false;
  if (left == 0) {
    remove_waiting(index);
    release_stream(index);
  }
  return true;
}

std::uint32_t TrainPort::add_stream(pdes::ComponentId from, const Segment& segment) {
  const Stream added{segment.times,
                     segment.waited_until,
                     segment.name,
                     segment.generation,
                     segment.destination,
                     segment.link,
                     from,
                     work().next_ordinal++,
                     0,
                     segment.final,
                     segment.bytes};
  if (work().unused_streams.empty()) {
    work().streams.push_back(added);
    return static_cast<std::uint32_t>(work().streams.size() - 1);
  }
  const std::uint32_t index = work().unused_streams.back();
  work().unused_streams.pop_back();
  work().streams[index] = added;
  return index;
}

void TrainPort::release_stream(std::uint32_t stream) {
  work().streams[stream].times.count = 0;
  work().unused_streams.push_back(stream);
}

void TrainPort::push_waiting(std::uint32_t stream) {
  // As std::push_heap does, but for the new one in registers: read back in one piece just after it was written in
  // several, it would take longer than all else here.
  const Turn turn = turn_of(work().streams[stream]);
  auto& waiting = work().waiting;
  std::size_t place = waiting.size();
  waiting.emplace_back();
  for (; place > 0 && turn < waiting[(place - 1) / 2].turn; place = (place - 1) / 2)
    waiting[place] = waiting[(place - 1) / 2];
  waiting[place].turn = turn;
  waiting[place].stream = stream;
}

std::uint32_t TrainPort::pop_waiting() {
  std::pop_heap(work().waiting.begin(), work().waiting.end(), later);
  const std::uint32_t stream = work().waiting.back().stream;
  work().waiting.pop_back();
  return stream;
}

void TrainPort::remove_waiting(std::uint32_t stream) {
  const auto found = std::find_if(work().waiting.begin(), work().waiting.end(),
                                  [stream](const TrainWork::Waiting& waiting) { return waiting.stream == stream; });
  if (found == work().waiting.end()) return;
  work().waiting.erase(found);
  std::make_heap(work().waiting.begin(), work().waiting.end(), later);
}

}  // namespace tessera::sim
