#include "sim/laws/rings/ring_waves.hpp"

#include <algorithm>

namespace tessera::sim {

RingWaves::RingWaves(RingParts& parts, const RingWork& work)
    : parts_(parts),
      work_(work),
      seats_(parts.shape.seats()),
      queues_(parts.shape.ways()),
      sent_(parts.shape.ways()),
      over_(parts.shape.members.size()) {}

RingWaves::RingWaves(RingParts& parts, const RingWork& work, const Moment& event, const std::vector<bool>& to_come)
    : RingWaves(parts, work) {
  event_ = event;
  end_ = {event.time, event.source + 1};
  to_come_ = &to_come;
}

void RingWaves::enter(std::uint32_t rank, const RingEntry& entry) {
  for (std::uint32_t index = rank; index < seats_.size(); index += static_cast<std::uint32_t>(over_.size())) {
    Seat& seat = seats_[index];
    seat.at = entry.at;
    seat.waited_until = entry.joined;
    begin_pass(index);
    ready_.push_back(index);
  }
  go_on();
}

void RingWaves::post(std::uint32_t way, const RingPost& message) {
  send(way, message);
  go_on();
}

void RingWaves::go_on_from(const RingStand& stand) {
  const std::uint32_t seats = parts_.shape.seats();
  for (std::uint32_t index = 0; index < seats; ++index) {
    Seat& seat = seats_[index];
    seat.at = stand.at[index];
    seat.ended = seat.at.time;
    seat.waited_until = stand.waited_until[index];
    seat.posted = seat.taken = stand.steps;
    seat.pass = stand.pass;
    seat.left = stand.left;
    for (std::uint32_t slot = 0; slot < pass_of(seat).slots; ++slot)
      seat.kinds[slot] = stand.kinds[slot * seats + index];
    ready_.push_back(index);
  }
  std::uint32_t steps = stand.steps;
  for (const RingPass& pass : work_.passes) {
    const std::uint32_t taken = std::min(steps, pass.steps);
    for (std::uint32_t way = pass.first * seats; way < (pass.first + pass.slots) * seats; ++way) sent_[way] += taken;
    steps -= taken;
  }
  go_on();
}

void RingWaves::take_in(const RingInputs& inputs) {
  for (std::uint32_t rank = 0; rank < inputs.entries.size(); ++rank) {
    const bool has_entered = inputs.entries[rank].at.time != never;
    if (has_entered && !parts_.is_real(rank)) enter(rank, inputs.entries[rank]);
  }
  for (std::uint32_t way = 0; way < inputs.posts.size(); ++way)
    for (const RingPost& message : inputs.posts[way]) post(way, message);
}

void RingWaves::go_on() {
  while (!ready_.empty()) {
    const std::uint32_t seat = ready_.back();
    ready_.pop_back();
    while (true) {
      if (may_post(seat)) {
        post_step(seat);
      } else if (may_take(seat)) {
        take_step(seat);
      } else {
        break;
      }
    }
  }
}

bool RingWaves::may_post(std::uint32_t index) const {
  const Seat& seat = seats_[index];
  if (seat.posted != seat.taken || seat.taken == work_.steps || seat.at.time == never) return false;
  if (to_come_ == nullptr || seat.posted == 0) return true;
  return seat.at < (!to_come_->empty() && (*to_come_)[index] ? event_ : end_);
}

// All messages of the step that it has posted.
bool RingWaves::may_take(std::uint32_t index) const {
  const Seat& seat = seats_[index];
  if (seat.posted == seat.taken) return false;
  const RingPass& pass = pass_of(seat);
  for (std::uint32_t slot = pass.first; slot < pass.first + pass.slots; ++slot) {
    const Queue& queue = queues_[way_in(slot, index)];
    if (queue.is_empty()) return false;
    if (to_come_ != nullptr && !(arrival(queue.messages[queue.first], slot, index) < end_)) return false;
  }
  return true;
}

void RingWaves::begin_pass(std::uint32_t index) {
  Seat& seat = seats_[index];
  const RingPass& pass = pass_of(seat);
  seat.left = pass.steps;
  for (std::uint32_t slot = 0; slot < pass.slots; ++slot)
    seat.kinds[slot] = pass.kinds[slot * parts_.shape.seats() + index];
}

void RingWaves::post_step(std::uint32_t index) {
  Seat& seat = seats_[index];
  ++seat.posted;
  const RingPass& pass = pass_of(seat);
  for (std::uint32_t slot = 0; slot < pass.slots; ++slot)
    send(parts_.shape.way(pass.first + slot, index), {seat.at.time, seat.waited_until, seat.kinds[slot]});
}

void RingWaves::send(std::uint32_t way, const RingPost& post) {
  RingWay& path = parts_.ways[way];
  const std::uint32_t size = work_.numbers[way * work_.sizes.size() + post.kind];
  const Message message{to_come_ == nullptr ? path.send(post.at, size) : path.send_until(post.at, size, end_.time),
                        post.waited_until, post.kind};
  const std::uint32_t number = sent_[way]++, receiver = parts_.shape.to[way];
  const bool is_real = parts_.is_real(receiver);
  if (is_real && to_come_ == nullptr) {
    comes_.push_back({way, number, message.at, message.waited_until});
    return;
  }
  Queue& queue = queues_[way];
  if (queue.is_empty()) {
    queue.messages.clear();
    queue.first = 0;
    if (!is_real) ready_.push_back(receiver);
  }
  queue.messages.push_back(message);
}

// What has come is added, and goes on.
void RingWaves::take_step(std::uint32_t index) {
  Seat& seat = seats_[index];
  const RingPass& pass = pass_of(seat);
  for (std::uint32_t slot = 0; slot < pass.slots; ++slot) {
    Queue& queue = queues_[way_in(pass.first + slot, index)];
    const Message& message = queue.messages[queue.first++];
    seat.at = std::max(seat.at, arrival(message, pass.first + slot, index));
    seat.waited_until = std::max(seat.waited_until, message.waited_until);
    seat.kinds[slot] = message.kind;
  }
  const Time adding =
      !pass.sums_up ? work_.pause
                    : work_.additions[work_.addition_of(index, seat.kinds[0], pass.slots == 1 ? 0 : 1 + seat.kinds[1])];
  seat.ended = seat.at.time + adding;
  if (++seat.taken == work_.steps) {
    const std::uint32_t rank = parts_.shape.rank(index);
    ++over_[rank];
    if (has_ended(rank)) ended_.push_back(rank);
    return;
  }
  if (adding > 0) seat.at = {seat.ended, parts_.shape.device(index)};
  if (--seat.left > 0) return;
  ++seat.pass;
  begin_pass(index);
}

TakenEnd RingWaves::end_of(std::uint32_t rank) const {
  TakenEnd end;
  for (std::uint32_t index = rank; index < seats_.size(); index += static_cast<std::uint32_t>(over_.size())) {
    end.at = std::max(end.at, seats_[index].at);
    end.clock = std::max(end.clock, seats_[index].ended);
  }
  for (std::uint32_t way = rank; way < queues_.size(); way += static_cast<std::uint32_t>(over_.size()))
    end.left = std::max(end.left, parts_.ways[way].left());
  return end;
}

Time RingWaves::waited_until(std::uint32_t rank) const {
  Time latest = 0;
  for (std::uint32_t index = rank; index < seats_.size(); index += static_cast<std::uint32_t>(over_.size()))
    latest = std::max(latest, seats_[index].waited_until);
  return latest;
}

std::vector<StepProgress> RingWaves::progress(const std::vector<std::uint32_t>& received) {
  std::vector<StepProgress> progress(seats_.size());
  for (std::uint32_t index = 0; index < seats_.size(); ++index) {
    const Seat& seat = seats_[index];
    StepProgress& one = progress[index];
    one.posted = seat.posted;
    one.taken = seat.taken;
    one.waited_until = seat.waited_until;
    one.next = seat.at;
    one.ended = seat.ended;
    if (seat.posted == seat.taken) continue;
    const RingPass& pass = pass_of(seat);
    for (std::uint32_t slot = 0; slot < pass.slots; ++slot) one.slots[pass.first + slot].awaits = true;
  }
  for (std::uint32_t way = 0; way < queues_.size(); ++way) place_messages(way, received, progress);
  return progress;
}

// Those that have not been taken.
void RingWaves::place_messages(std::uint32_t way, const std::vector<std::uint32_t>& received,
                               std::vector<StepProgress>& progress) const {
  const std::uint32_t slot = way / parts_.shape.seats(), receiver = parts_.shape.to[way];
  StepProgress::Slot& sender = progress[way % parts_.shape.seats()].slots[slot];
  sender.sent = sent_[way];
  if (parts_.is_gate(way)) return;
  const bool is_real = parts_.is_real(receiver);
  StepProgress& one = progress[receiver];
  StepProgress::Slot& here = one.slots[slot];
  const Queue& queue = queues_[way];
  for (std::size_t i = queue.first + (is_real ? received[way] : 0); i < queue.messages.size(); ++i) {
    const Message& message = queue.messages[i];
    const Moment at = arrival(message, slot, receiver);
    if (!is_real && at < (here.awaits ? end_ : event_)) {
      if (here.awaits) {
        one.waited_until = std::max(one.waited_until, message.waited_until);
      } else {
        here.early.push_back(message.waited_until);
      }
      here.awaits = false;
      continue;
    }
    sender.on_their_way.push_back(message.waited_until);
    if (at < end_) ++sender.tied;
  }
}

std::vector<StepProgress> progress_at(const Moment& event, const std::vector<bool>& to_come, RingParts& parts,
                                      const RingWork& work, const RingInputs& inputs) {
  const auto has_entered = [](const RingEntry& entry) { return entry.at.time != never; };
  const bool is_whole = parts.gates.empty() && std::ranges::all_of(inputs.entries, has_entered) &&
                        std::ranges::none_of(parts.ways, &RingWay::has_guests);
  RingStand stand;
  if (is_whole) stand = stand_before(event.time, parts, work, inputs.entries);
  RingWaves waves(parts, work, event, to_come);
  stand.steps > 0 ? waves.go_on_from(stand) : waves.take_in(inputs);
  return waves.progress(inputs.received);
}

}  // namespace tessera::sim
