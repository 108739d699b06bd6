// What comes to a port from other nodes, and the order in which it waits.
#include <algorithm>

#include "sim/network/output_port.hpp"
#include "tessera/base/integers.hpp"

namespace tessera::sim {
namespace {

constexpr auto later = [](const auto& a, const auto& b) { return b.turn < a.turn; };

}  // namespace

// The flows that wait, once for as many changes as there are flows, so that crowds cost no more than pairs.
void OutputPort::count_queue(Time now) {
  if (++state_.uncounted < state_.waiting.size()) return;
  state_.uncounted = 0;
  const std::int64_t packet = tables_->packet();
  std::int64_t bytes = rate().within(std::max<Time>(0, free_at() - now));
  for (const PortState::Waiting& waiting : state_.waiting) {
    const Law& law = state_.streams[waiting.stream].segment.law;
    bytes = saturating_sum(bytes, law.bytes(law.until(now, tables_->rate(law.rate)), packet));
  }
  state_.counts.peak_queue = std::max(state_.counts.peak_queue, bytes - packet);
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
  state_.waiting.push_back({turn_of(state_.streams[stream]), stream});
  std::push_heap(state_.waiting.begin(), state_.waiting.end(), later);
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
