#include "sim/network/injector.hpp"

#include <algorithm>

namespace tessera::sim {

bool Injector::follows(const OwnMessage& message, Ticket before) const {
  if (before >= places_.size()) return false;
  // Its place may have gone to another message, or stand empty, with no packets left.
  const OwnMessage& other = places_[before].message;
  return other.packets_left > 0 && other.destination == message.destination &&
         other.name.channel == message.name.channel;
}

// A packet that leaves later than now may have been counted as sent already: its connection is not yet done with it.
bool Injector::is_last_sent(const OwnMessage& message) const {
  return current_ == no_ticket && message.joined < left_ && last_destination_ == message.destination &&
         last_channel_ == message.name.channel;
}

Injector::Ticket Injector::post(const OwnMessage& message, Ticket before) {
  const bool behind = follows(message, before);
  const Ticket place = add(message);
  if (behind) {
    places_[before].next = place;
  } else if (is_last_sent(message)) {
    current_ = place;
  } else if (messages_ == 1 && message.joined >= left_) {
    make_current(place);  // alone, without a line
  } else {
    line_.push_back(place);
  }
  return place;
}

Injector::Ticket Injector::add(const OwnMessage& message) {
  ++messages_;
  if (unused_ == no_ticket) {
    places_.push_back({message, no_ticket, posted_++});
    return static_cast<Ticket>(places_.size() - 1);
  }
  const Ticket place = unused_;
  unused_ = places_[place].next;
  places_[place] = {message, no_ticket, posted_++};
  return place;
}

bool Injector::turn_passes_on() const {
  return head_ < line_.size() && (current_ == no_ticket || joined(head_) < left_);
}

Injector::Offer Injector::offer() const {
  if (empty()) return {};
  const bool alone = active() == 1;
  const OwnMessage& next = places_[turn_passes_on() ? line_[head_] : current_].message;
  return {&next, std::max(left_, next.joined), alone};
}

void Injector::make_current(Ticket place) {
  current_ = place;
  last_destination_ = places_[place].message.destination;
  last_channel_ = places_[place].message.name.channel;
}

void Injector::pop_into_current() {
  const Ticket next = line_[head_++];
  if (current_ != no_ticket) {
    places_[current_].message.joined = left_;
    std::size_t place = line_.size();
    while (place > head_ && joined(place - 1) >= left_) --place;
    line_.insert(line_.begin() + static_cast<std::ptrdiff_t>(place), current_);
  }
  make_current(next);
  if (head_ == line_.size() || head_ >= 64) {
    line_.erase(line_.begin(), line_.begin() + static_cast<std::ptrdiff_t>(head_));
    head_ = 0;
  }
}

const OwnMessage& Injector::sent(std::uint32_t packets, Time left) {
  if (turn_passes_on()) pop_into_current();
  OwnMessage& message = places_[current_].message;
  message.packets_left -= packets;
  left_ = left;
  if (message.packets_left == 0) end_current();
  return message;
}

void Injector::end_current() {
  const Ticket behind = remove(current_);
  current_ = no_ticket;
  if (behind == no_ticket) return;
  OwnMessage& next = places_[behind].message;
  if (next.joined < left_) {
    current_ = behind;
  } else {
    fall_in_line(behind);
  }
}

// Returns the message behind it on its connection.
Injector::Ticket Injector::remove(Ticket place) {
  Held& done = places_[place];
  const Ticket behind = done.next;
  --messages_;
  done.next = unused_;
  unused_ = place;
  return behind;
}

// Posted in the picosecond in which a message without bytes before it came and left: in the order of posting.
void Injector::fall_in_line(Ticket place) {
  const Held& held = places_[place];
  const auto comes_after = [&](Ticket other) {
    const Held& that = places_[other];
    if (that.message.joined != held.message.joined) return that.message.joined > held.message.joined;
    return static_cast<std::int32_t>(that.number - held.number) > 0;
  };
  line_.insert(std::find_if(line_.begin() + static_cast<std::ptrdiff_t>(head_), line_.end(), comes_after), place);
}

std::vector<Injector::Ticket> Injector::turns() const {
  std::vector<Ticket> turns;
  turns.reserve(active());
  bool current = current_ != no_ticket;
  for (std::size_t i = head_; i < line_.size(); ++i) {
    if (current && joined(i) >= left_) {
      turns.push_back(current_);
      current = false;
    }
    turns.push_back(line_[i]);
  }
  if (current) turns.push_back(current_);
  return turns;
}

void Injector::sent_in_turns(const std::vector<Sent>& sent, std::size_t last, Time left) {
  // Whoever has come since stands behind all of these.
  const std::size_t in_line = sent.size() - (current_ != no_ticket ? 1 : 0);
  const std::vector<Ticket> since(line_.begin() + static_cast<std::ptrdiff_t>(head_ + in_line), line_.end());
  line_.clear();
  head_ = 0;
  current_ = no_ticket;
  for (const Sent& one : sent) places_[one.place].message.packets_left -= one.packets;
  left_ = left;
  for (std::size_t i = 1; i < sent.size(); ++i) {
    Ticket place = sent[(last + i) % sent.size()].place;
    if (places_[place].message.packets_left == 0) place = remove(place);
    if (place == no_ticket) continue;
    places_[place].message.joined = left - 1;  // any time before it
    line_.push_back(place);
  }
  line_.insert(line_.end(), since.begin(), since.end());
  make_current(sent[last].place);
  if (places_[current_].message.packets_left == 0) end_current();
}

std::uint32_t Injector::held(std::uint32_t stream, std::uint32_t batch) const {
  const auto counts = [&](const Held& held) {
    const OwnMessage& message = held.message;
    return message.packets_left > 0 && message.stream == stream && (batch == any_batch || message.batch == batch);
  };
  return messages_ == 0 ? 0 : static_cast<std::uint32_t>(std::count_if(places_.begin(), places_.end(), counts));
}

}  // namespace tessera::sim
