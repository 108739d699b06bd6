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

std::uint32_t Injector::whole_rounds() const {
  if (current_.packets_left == 0 || head_ == line_.size() || line_.back().joined >= left_) return 0;
  std::uint32_t least = current_.packets_left;
  for (std::size_t i = head_; i < line_.size(); ++i) least = std::min(least, line_[i].packets_left);
  return least - 1;
}

void Injector::sent_in_turns(std::uint32_t packets, std::uint32_t takers, Time left) {
  // The line of the takers, the one that sent last behind all others; messages that came since stay behind them.
  const auto first = line_.begin() + static_cast<std::ptrdiff_t>(head_);
  const auto others = first + (takers - 1);
  for (std::uint32_t i = 0; i < takers; ++i) {
    OwnMessage& message = i + 1 < takers ? *(first + i) : current_;
    message.packets_left -= packets > i ? (packets - 1 - i) / takers + 1 : 0;
    message.joined = left - 1;  // any time before it
  }
  for (std::uint32_t turn = 0; turn < packets % takers; ++turn) {
    const OwnMessage next = *first;
    std::rotate(first, first + 1, others);
    *(others - 1) = current_;
    current_ = next;
  }
  left_ = left;
}

std::uint32_t Injector::held(std::uint32_t stream, std::uint32_t batch) const {
  const auto counts = [&](const OwnMessage& message) {
    return message.stream == stream && (batch == any_batch || message.batch == batch);
  };
  const auto waiting = std::count_if(line_.begin() + static_cast<std::ptrdiff_t>(head_), line_.end(), counts);
  return static_cast<std::uint32_t>(waiting) + (current_.packets_left > 0 && counts(current_) ? 1 : 0);
}

}  // namespace tessera::sim
