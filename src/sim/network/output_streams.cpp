// What comes to a port from other nodes, and the order in which it waits.
#include <algorithm>

#include "sim/network/output_port.hpp"

namespace tessera::sim {
namespace {

constexpr auto later = [](const auto& a, const auto& b) { return b.turn < a.turn; };

}  // namespace

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
