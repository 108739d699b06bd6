#include "tessera/sim/network/injector.hpp"

#include <algorithm>

namespace tessera::sim {

bool Injector::turn_passes_on() const {
  return head_ < line_.size() && (current_.packets_left == 0 || line_[head_].joined < left_);
}

Injector::Offer Injector::offer() {
  if (empty()) return {};
  const std::size_t waiting = line_.size() - head_;
  if (!turn_passes_on()) return {&current_, left_, waiting == 0};
  const OwnMessage& next = line_[head_];
  return {&next, std::max(left_, next.joined), waiting == 1 && current_.packets_left == 0};
}

void Injector::pop_into_current() {
  const OwnMessage next = line_[head_++];
  if (current_.packets_left > 0) {
    current_.joined = left_;
    auto place = line_.end();
    while (place != line_.begin() + static_cast<std::ptrdiff_t>(head_) && (place - 1)->joined >= left_) --place;
    line_.insert(place, current_);
  }
  current_ = next;
  if (head_ == line_.size() || head_ >= 64) {
    line_.erase(line_.begin(), line_.begin() + static_cast<std::ptrdiff_t>(head_));
    head_ = 0;
  }
}

const OwnMessage& Injector::sent(std::uint32_t packets, Time left) {
  if (turn_passes_on()) pop_into_current();
  current_.packets_left -= packets;
  left_ = left;
  return current_;
}

std::uint32_t Injector::held(std::uint32_t stream, std::uint32_t batch) const {
  const auto counts = [&](const OwnMessage& message) {
    return message.stream == stream && (batch == any_batch || message.batch == batch);
  };
  const auto waiting = std::count_if(line_.begin() + static_cast<std::ptrdiff_t>(head_), line_.end(), counts);
  return static_cast<std::uint32_t>(waiting) + (current_.packets_left > 0 && counts(current_) ? 1 : 0);
}

}  // namespace tessera::sim
