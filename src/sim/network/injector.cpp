#include "sim/network/injector.hpp"

#include <algorithm>

namespace tessera::sim {

bool Injector::follows(const OwnMessage& message, Ticket before) const {
  if (before >= state_.places.size()) return false;
  // Its place may have gone to another message, or stand empty, with no packets left.
  const OwnMessage& other = state_.places[before].message;
  return other.packets_left > 0 && other.destination == message.destination &&
         other.name.channel == message.name.channel;
}

// A packet that leaves later than now may have been counted as sent already: its connection is not yet done with it.
bool Injector::is_last_sent(const OwnMessage& message) const {
  return state_.current == no_ticket && message.joined < state_.left &&
         state_.last_destination == message.destination && state_.last_channel == message.name.channel;
}

Injector::Ticket Injector::post(const OwnMessage& message, Ticket before) {
  const bool behind = follows(message, before);
  const Ticket place = add(message);
  if (behind) {
    state_.places[before].next = place;
  } else if (is_last_sent(message)) {
    state_.current = place;
  } else if (state_.messages == 1 && message.joined >= state_.left) {
    make_current(place);  // alone, without a line
  } else {
    state_.line.push_back(place);
  }
  return place;
}

Injector::Ticket Injector::add(const OwnMessage& message) {
  ++state_.messages;
  if (state_.unused == no_ticket) {
    state_.places.push_back({message, no_ticket, state_.posted++});
    return static_cast<Ticket>(state_.places.size() - 1);
  }
  const Ticket place = state_.unused;
  state_.unused = state_.places[place].next;
  state_.places[place] = {message, no_ticket, state_.posted++};
  return place;
}

bool Injector::turn_passes_on() const {
  return state_.head < state_.line.size() && (state_.current == no_ticket || joined(state_.head) < state_.left);
}

Injector::Offer Injector::offer() const {
  if (empty()) return {};
  const bool alone = active() == 1;
  const OwnMessage& next = state_.places[turn_passes_on() ? state_.line[state_.head] : state_.current].message;
  return {&next, std::max(state_.left, next.joined), alone};
}

void Injector::make_current(Ticket place) {
  state_.current = place;
  state_.last_destination = state_.places[place].message.destination;
  state_.last_channel = state_.places[place].message.name.channel;
}

void Injector::pop_into_current() {
  const Ticket next = state_.line[state_.head++];
  if (state_.current != no_ticket) {
    state_.places[state_.current].message.joined = state_.left;
    std::size_t place = state_.line.size();
    while (place > state_.head && joined(place - 1) >= state_.left) --place;
    state_.line.insert(state_.line.begin() + static_cast<std::ptrdiff_t>(place), state_.current);
  }
  make_current(next);
  if (state_.head == state_.line.size() || state_.head >= 64) {
    state_.line.erase(state_.line.begin(), state_.line.begin() + static_cast<std::ptrdiff_t>(state_.head));
    state_.head = 0;
  }
}

const OwnMessage& Injector::sent(std::uint32_t packets, Time left) {
  if (turn_passes_on()) pop_into_current();
  OwnMessage& message = state_.places[state_.current].message;
  message.packets_left -= packets;
  state_.left = left;
  if (message.packets_left == 0) end_current();
  return message;
}

void Injector::end_current() {
  const Ticket behind = remove(state_.current);
  state_.current = no_ticket;
  if (behind == no_ticket) return;
  OwnMessage& next = state_.places[behind].message;
  if (next.joined < state_.left) {
    state_.current = behind;
  } else {
    fall_in_line(behind);
  }
}

// Those before it may have been counted as sent, although they leave later.
void Injector::withhold_last(Ticket place, std::int64_t packet, bool stays) {
  OwnMessage& message = state_.places[place].message;
  --message.packets_left;
  message.last_bytes = packet;
  message.goes_on = true;
  if (message.packets_left > 0 || stays) return;
  const auto in_line =
      std::find(state_.line.begin() + static_cast<std::ptrdiff_t>(state_.head), state_.line.end(), place);
  if (in_line != state_.line.end()) state_.line.erase(in_line);
  if (state_.current == place) state_.current = no_ticket;
  static_cast<void>(remove(place));
}

// Returns the message behind it on its connection.
Injector::Ticket Injector::remove(Ticket place) {
  Held& done = state_.places[place];
  const Ticket behind = done.next;
  --state_.messages;
  done.next = state_.unused;
  state_.unused = place;
  return behind;
}

// Posted in the picosecond in which a message without bytes before it came and left: in the order of posting.
void Injector::fall_in_line(Ticket place) {
  const Held& held = state_.places[place];
  const auto comes_after = [&](Ticket other) {
    const Held& that = state_.places[other];
    if (that.message.joined != held.message.joined) return that.message.joined > held.message.joined;
    return static_cast<std::int32_t>(that.number - held.number) > 0;
  };
  state_.line.insert(
      std::find_if(state_.line.begin() + static_cast<std::ptrdiff_t>(state_.head), state_.line.end(), comes_after),
      place);
}

std::vector<Injector::Ticket> Injector::turns() const {
  std::vector<Ticket> turns;
  turns.reserve(active());
  bool current = state_.current != no_ticket;
  for (std::size_t i = state_.head; i < state_.line.size(); ++i) {
    if (current && joined(i) >= state_.left) {
      turns.push_back(state_.current);
      current = false;
    }
    turns.push_back(state_.line[i]);
  }
  if (current) turns.push_back(state_.current);
  return turns;
}

void Injector::sent_in_turns(const std::vector<Sent>& sent, std::size_t last, Time left) {
  // Whoever has come since stands behind all of these.
  const std::size_t in_line = sent.size() - (state_.current != no_ticket ? 1 : 0);
  const std::vector<Ticket> since(state_.line.begin() + static_cast<std::ptrdiff_t>(state_.head + in_line),
                                  state_.line.end());
  state_.line.clear();
  state_.head = 0;
  state_.current = no_ticket;
  for (const Sent& one : sent) state_.places[one.place].message.packets_left -= one.packets;
  state_.left = left;
  for (std::size_t i = 1; i < sent.size(); ++i) {
    Ticket place = sent[(last + i) % sent.size()].place;
    if (state_.places[place].message.packets_left == 0) place = remove(place);
    if (place == no_ticket) continue;
    state_.places[place].message.joined = left - 1;  // any time before it
    state_.line.push_back(place);
  }
  state_.line.insert(state_.line.end(), since.begin(), since.end());
  make_current(sent[last].place);
  if (state_.places[state_.current].message.packets_left == 0) end_current();
}

std::uint32_t Injector::held(std::uint32_t stream, std::uint32_t batch) const {
  const auto counts = [&](const Held& held) {
    const OwnMessage& message = held.message;
    return message.packets_left > 0 && message.stream == stream && (batch == any_batch || message.batch == batch);
  };
  return state_.messages == 0
             ? 0
             : static_cast<std::uint32_t>(std::count_if(state_.places.begin(), state_.places.end(), counts));
}

}  // namespace tessera::sim
