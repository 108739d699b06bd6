// A device as a member of collectives that somebody else carries out.
#include <algorithm>

#include "sim/execution/device.hpp"

namespace tessera::sim {

using Phase = CollectiveRun::Phase;

bool Device::is_taken_over(Stream& stream) {
  if (environment().takeover == nullptr || stream.parent != no_stream) return false;
  // It may have been about to be called at this time for what it waited for before.
  stream.wake = 0;
  ++stream.token;
  stream.collective.ended = 0;
  const Takeover::Answer answer = environment().takeover->enter(context(), handling().source, in_turn(), stream);
  if (answer == Takeover::Answer::step_by_step) return false;
  stream.collective.phase = Phase::taken_over;
  stream.state = answer == Takeover::Answer::ends_now ? StreamState::runs : StreamState::taken_over;
  return true;
}

// The streams of strands are here before something may be broken off: others must not move then.
TakenStream Device::taken_stream(std::uint32_t index, std::uint32_t strand, std::uint32_t strands) {
  const Stream& stream = strands == 1 ? stream_at(index) : strand_of(index, strand);
  return {stream.index, stream.batch};
}

std::uint32_t Device::next_message(program::DeviceId to, std::uint32_t channel) {
  std::uint32_t hint = 0;
  return outbox(to, channel, hint).next;
}

void Device::taken_ends(pdes::Context& context, std::uint32_t index, const TakenEnd& end, Time waited_until,
                        bool is_now) {
  Stream& stream = stream_at(index);
  tell_promises();
  stream.collective.ended = end.clock;
  stream.collective.waited_until = std::max(stream.collective.waited_until, waited_until);
  stream.left = std::max(stream.left, end.left);
  stream.wake = 0;
  if (is_now) return;
  // What it took of the device is given back with the last addition.
  const bool adds = config_.shares_cores && end.clock > end.at.time;
  const Moment at = adds ? Moment{end.clock, config_.self} : end.at;
  const bool is_due = adds || (at.source == config_.self && stream.collective.strands == 1);
  stream.wake = is_due ? at.time : 0;
  wake_in_name(context, at, stream);
}

// As by a message of that component, which another one may stand for.
void Device::wake_in_name(const pdes::Context& context, const Moment& at, Stream& stream) const {
  const StandIn* stand_in = environment().network.stand_in;
  const pdes::ComponentId by = stand_in == nullptr ? at.source : stand_in->place(at.source).of;
  context.of(by).resend_as(at.source, config_.self, at.time, StreamWake{stream.index, ++stream.token});
}

// A message of a step, over links that somebody has for himself.
bool Device::goes_with_takeover(Stream& stream, Outboxes::Box& box, program::DeviceId destination,
                                std::uint32_t channel, std::int64_t bytes, Time waited_until) {
  const machine::LinkId link = node_.ports()[box.port]->link();
  const MessageName name{config_.self, channel, box.next};
  const auto left = environment().takeover->carry(context(), link, name, destination, bytes, waited_until);
  if (!left) return false;
  ++box.next;
  stream.left = std::max(stream.left, *left);
  return true;
}

void Device::taken_delivers(pdes::Context& context, const Moment& at, const Delivered& message) {
  if (environment().promises != nullptr) environment().promises->told(message, config_.self, at.time);
  context.of(at.source).resend_as(at.source, config_.self, at.time, message);
}

void Device::count_taken(const TakenMessages& messages) {
  std::uint32_t hint = 0;
  outbox(messages.next, messages.channel, hint).next += messages.count;
  state_.bytes_sent += messages.sent;
  state_.bytes_received += messages.received;
  state_.messages_received += messages.count;
}

void Device::broken_off(pdes::Context* own, const BrokenOff& broken) {
  tell_promises();
  for (const BrokenOff::Strand& strand : broken.strands) {
    for (std::size_t slot = 0; slot < strand.ways.size(); ++slot) {
      const auto& [messages, previous, place] = strand.ways[slot];
      const Mailboxes::Index box = state_.mailboxes.find(previous, messages.channel);
      for (const Time waited_until : strand.progress.slots[slot].early)
        static_cast<void>(state_.mailboxes.deliver(box, waited_until));
      if (place != Injector::no_ticket) {  // the next message on this channel follows it
        std::uint32_t hint = 0;
        outbox(messages.next, messages.channel, hint).latest = place;
      }
      const bool is_foreseen = own != nullptr && environment().promises != nullptr;
      for (std::size_t i = 0; is_foreseen && i < strand.progress.slots[slot].on_their_way.size(); ++i)
        environment().promises->posted({config_.self, messages.channel, 0}, messages.next);
      if (broken.goes_on) count_taken(messages);
    }
  }
  if (!broken.goes_on) return;
  Stream& stream = stream_at(broken.stream);
  ++stream.token;  // its end is not what it was
  stream.wake = 0;
  if (broken.strands.size() == 1) return go_on_with_strand(own, stream, broken.strands[0]);
  CollectiveRun& run = stream.collective;
  run.waited_until = broken.joined;
  stand_before_strands(stream);
  for (std::uint32_t i = 0; i < broken.strands.size(); ++i) {
    const BrokenOff::Strand& one = broken.strands[i];
    Stream& strand = stream_at(one.stream);
    begin_strand(stream, strand, i);
    if (one.goes_on_now) not_yet_in_event(stream);
    if (!one.is_over) {
      go_on_with_strand(own, strand, one);
      continue;
    }
    strand.state = StreamState::done;
    strand.clock = one.progress.ended;
    strand.collective.waited_until = one.progress.waited_until;
    strand.collective.phase = Phase::none;
    end_strand(stream, strand);
  }
  stream.state = StreamState::strands;
}

// It would have ended in the event that is handled, and goes on behind its strands.
void Device::not_yet_in_event(const Stream& stream) {
  std::vector<std::uint32_t>& ready = handling().ready;
  const auto next = ready.begin() + static_cast<std::ptrdiff_t>(handling().next);
  ready.erase(std::remove(next, ready.end(), stream.index), ready.end());
}

// In the event that is handled, in its place among those that are due and still to come.
void Device::go_on_in_event(Stream& stream) {
  ++stream.token;
  std::vector<std::uint32_t>& ready = handling().ready;
  const auto next = ready.begin() + static_cast<std::ptrdiff_t>(handling().next);
  const auto behind = ready.begin() + static_cast<std::ptrdiff_t>(handling().in_turn);
  const auto place = std::lower_bound(next, behind, stream.index);
  if (place != behind && *place == stream.index) return;  // it would have ended in this event
  ready.insert(place, stream.index);
  ++handling().in_turn;
}

void Device::go_on_with_strand(pdes::Context* own, Stream& stream, const BrokenOff::Strand& broken) {
  const StepProgress& progress = broken.progress;
  CollectiveRun& run = stream.collective;
  run.step = progress.taken;
  run.waited_until = progress.waited_until;
  run.wait_sends = false;
  stream.batch += progress.posted;
  if (progress.posted > progress.taken) {
    stream.missing = 0;
    for (std::size_t slot = 0; slot < broken.ways.size(); ++slot) {
      if (!progress.slots[slot].awaits) continue;
      const auto& [messages, previous, place] = broken.ways[slot];
      static_cast<void>(state_.mailboxes.take(state_.mailboxes.find(previous, messages.channel), stream.index));
      ++stream.missing;
    }
    run.reduce = broken.adding;
    run.pause = run.lowering.wire.pause;
    run.phase = Phase::receive;
    stream.state = StreamState::messages;
    return;
  }
  run.phase = Phase::post;
  stream.clock = progress.next.time;
  stream.state = StreamState::until_clock;
  if (own == nullptr) return;
  if (broken.goes_on_now) return go_on_in_event(stream);
  stream.wake = progress.next.source == config_.self ? stream.clock : 0;
  wake_in_name(*own, progress.next, stream);
}

}  // namespace tessera::sim
