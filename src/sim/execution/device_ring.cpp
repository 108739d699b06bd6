// A device as a member of rings whose steps are not carried out one by one.
#include <algorithm>

#include "sim/execution/device.hpp"

namespace tessera::sim {

using Phase = CollectiveRun::Phase;

bool Device::goes_without_steps(Stream& stream) {
  if (environment().rings == nullptr || stream.parent != no_stream) return false;
  const RingLaws::Answer answer = environment().rings->enter(context(), handling().source, stream);
  if (answer == RingLaws::Answer::step_by_step) return false;
  stream.collective.phase = Phase::ring;
  stream.state = answer == RingLaws::Answer::ends_now ? StreamState::runs : StreamState::ring;
  return true;
}

std::uint32_t Device::next_message(program::DeviceId to, std::uint32_t channel) {
  std::uint32_t hint = 0;
  return outbox(to, channel, hint).next;
}

void Device::ring_ends(pdes::Context& context, std::uint32_t index, const RingEnd& end, Time waited_until,
                       bool is_now) {
  Stream& stream = stream_at(index);
  stream.collective.ended = end.clock;
  stream.collective.waited_until = std::max(stream.collective.waited_until, waited_until);
  stream.left = std::max(stream.left, end.left);
  stream.batch += stream.collective.steps;  // its last message may be in a port yet (break_off)
  stream.wake = 0;
  if (is_now) return;
  // What it took of the device is given back with the last addition.
  const bool adds = config_.shares_cores && end.clock > end.at.time;
  const Moment at = adds ? Moment{end.clock, config_.self} : end.at;
  context.of(at.source).resend(config_.self, at.time, StreamWake{index, ++stream.token});
}

void Device::count_ring(std::uint32_t channel, program::DeviceId next, const RingMessages& messages) {
  std::uint32_t hint = 0;
  outbox(next, channel, hint).next += messages.count;
  state_.bytes_sent += messages.sent;
  state_.bytes_received += messages.received;
  state_.messages_received += messages.count;
}

void Device::ring_is_broken_off(pdes::Context* own, std::uint32_t channel, const BrokenOff& broken) {
  const RingStanding& standing = broken.standing;
  const Mailboxes::Index box = state_.mailboxes.find(broken.previous, channel);
  for (const Time waited_until : standing.early) static_cast<void>(state_.mailboxes.deliver(box, waited_until));
  if (broken.place != Injector::no_place) {  // the next message on this channel follows it
    std::uint32_t hint = 0;
    outbox(broken.next, channel, hint).latest = broken.place;
  }
  if (!broken.goes_on) return;
  count_ring(channel, broken.next, broken.messages);
  Stream& stream = stream_at(broken.stream);
  CollectiveRun& run = stream.collective;
  run.step = standing.taken;
  run.waited_until = standing.waited_until;
  run.wait_sends = false;
  stream.batch = broken.batch;
  ++stream.token;  // its end is not what it was
  stream.wake = 0;
  if (standing.posted > standing.taken) {
    static_cast<void>(state_.mailboxes.take(box, stream.index));
    run.reduce = broken.adding;
    run.phase = Phase::receive;
    stream.missing = 1;
    stream.state = StreamState::messages;
    return;
  }
  run.phase = Phase::post;
  stream.clock = standing.next.time;
  stream.state = StreamState::until_clock;
  if (own != nullptr)
    own->of(standing.next.source).resend(config_.self, stream.clock, StreamWake{stream.index, stream.token});
}

}  // namespace tessera::sim
