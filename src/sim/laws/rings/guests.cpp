// Single packets of others that come among the messages of a ring, which stays a law: what they delay is known at once.
#include <algorithm>

#include "sim/laws/rings/ring.hpp"
#include "tessera/base/error.hpp"

namespace tessera::sim {
namespace {

// Of a collective: for each all steps are walked through again, at some 10 ns a step; to carry one out takes some 600.
constexpr std::uint32_t most_guests = 32;

}  // namespace

// On the last link of a way, where what is announced goes to the device behind it.
bool RingLaws::may_pass(const Reserved& reserved, machine::LinkId link, const Segment& segment) const {
  const Track& track = *reserved.track;
  const RingWay& path = track.parts.ways[reserved.way];
  const std::vector<Run>& runs = track.owner->runs;
  const std::uint32_t rank = reserved.way % track.owner->size;
  // What has been sent since the mark is walked through again: that of one collective.
  if (runs.empty() || (runs.size() > 1 && runs.back().entries[rank].at.time != never)) return false;
  // What takes no time may tie with anything.
  for (const Run& run : runs)
    if (std::ranges::find(run.work->sizes, 0) != run.work->sizes.end()) return false;
  return fold_ == nullptr && !track.owner->is_part && segment.times.last_bytes > 0 && segment.final &&
         segment.times.count == 1 && !segment.shortens && path.links().size() > 1 && path.links().back() == link &&
         runs.front().guests < most_guests;
}

bool RingLaws::let_pass(pdes::Context& context, pdes::ComponentId source, machine::LinkId link,
                        const Segment& segment) {
  const Reserved reserved = reserved_by_[link];
  if (is_at_rest(reserved, context.now()) || !may_pass(reserved, link, segment)) return false;
  Ring& ring = *reserved.track->owner;
  RingWay& path = reserved.track->parts.ways[reserved.way];
  Guest guest{{context.now(), source}, segment};
  NetworkNode& node = *parts_->nodes[tables_->server(link)];
  TrainPort& port = port_at(link);
  WayPorts::Announced left;
  try {
    left = path.let_pass(under_way(ring, reserved.way, guest.at), guest);
  } catch (const BeyondTimeError&) {
    node.refuse_time(port);
  }
  if (left.kind == WayPorts::Announced::Kind::delivered) {
    left.delivered.generation = guest.generation = port.take_generation();
    node.deliver(port, left.at.time, segment.destination, left.delivered);
  } else {
    left.segment.generation = guest.generation = port.take_generation();
    node.forward(port, left.at.time, left.segment);
  }
  path.add_guest(guest);
  ++ring.runs.front().guests;
  if (!ring.runs.front().ends.empty()) find_ends_again(context, ring);
  return true;
}

// On a way before an event. Paths are at the mark afterwards.
RingWay::UnderWay RingLaws::under_way(Ring& ring, std::uint32_t way, const Moment& event) {
  std::vector<RingWay>& ring_ways = ring.track->parts.ways;
  const bool ends_known = !ring.runs.front().ends.empty();
  for (RingWay& path : ring_ways) ends_known ? path.rewind() : path.mark();
  for (const Run& run : ring.runs)
    static_cast<void>(progress_at(event, {}, ring.track->parts, *run.work, run.inputs()));
  RingWay::UnderWay found;
  for (std::uint32_t one = 0; one < ring_ways.size(); ++one) {
    RingWay::UnderWay last = ring_ways[one].take_last(event.time);
    if (one == way) found = std::move(last);
    ring_ways[one].rewind();
  }
  return found;
}

// Of the first collective under way, those that are not what they were.
void RingLaws::find_ends_again(pdes::Context& context, Ring& ring) {
  Run& run = ring.runs.front();
  const std::vector<TakenEnd> before = std::exchange(run.ends, ends_of(ring.track->parts, *run.work, run.entries));
  for (RingWay& path : ring.track->parts.ways) path.take_in_guests();
  for (std::uint32_t rank = 0; rank < ring.size; ++rank) {
    const TakenEnd& end = run.ends[rank];
    const bool is_same = end.at == before[rank].at && end.clock == before[rank].clock && end.left == before[rank].left;
    if (is_same || ring.left[rank] != ring.first) continue;
    const program::DeviceId device = ring.track->parts.shape.members[rank];
    parts_->members[device]->taken_ends(context, run.members[rank].stream, end, run.waited_until, false);
  }
}

}  // namespace tessera::sim
