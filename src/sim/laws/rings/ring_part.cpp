// Rings over ranks: those of their members that are on this one.
#include <algorithm>
#include <utility>

#include "sim/laws/rings/ring.hpp"
#include "tessera/program/group_rank.hpp"

namespace tessera::sim {
namespace {

/// By seats of the part. `places`: by rank in the whole, the rank in the part.
RingShape shape_of(const RingPart& part, const std::vector<std::uint32_t>& here,
                   const std::vector<std::uint32_t>& places) {
  const RingShape& whole = part.whole.shape;
  const auto members = static_cast<std::uint32_t>(whole.members.size());
  RingShape shape{{}, whole.strands, whole.slots, {}, {}, {}, {}};
  for (const std::uint32_t rank : here) shape.members.push_back(whole.members[rank]);
  for (const std::uint32_t way : part.ways) {
    const std::uint32_t to = whole.to[way], place = places[to % members];
    shape.to.push_back(place == nobody ? nobody : to / members * static_cast<std::uint32_t>(here.size()) + place);
    shape.lanes.push_back(whole.lanes[way]);
    shape.next.push_back(whole.next[way]);
    shape.previous.push_back(whole.previous[way]);
  }
  return shape;
}

}  // namespace

void keep_part(RingPlan& plan, const std::vector<std::uint32_t>& here) {
  auto part = std::make_shared<RingPart>();
  part->whole = plan;
  part->senders = plan.shape.senders();
  const RingShape& whole = part->whole.shape;
  const auto members = static_cast<std::uint32_t>(whole.members.size());
  std::vector<std::uint32_t> places(members, nobody);
  for (std::uint32_t place = 0; place < here.size(); ++place) places[here[place]] = place;
  for (std::uint32_t strand = 0; strand < whole.strands; ++strand)
    for (const std::uint32_t rank : here) part->seats.push_back(strand * members + rank);
  for (std::uint32_t slot = 0; slot < whole.slots; ++slot)
    for (const std::uint32_t seat : part->seats) part->ways.push_back(whole.way(slot, seat));
  plan.shape = shape_of(*part, here, places);
  for (std::size_t i = 0; i < plan.work.passes.size(); ++i) {
    const std::vector<std::uint32_t>& kinds = part->whole.work.passes[i].kinds;
    plan.work.passes[i].kinds.clear();
    for (std::uint32_t slot = 0; slot < plan.work.passes[i].slots; ++slot)
      for (const std::uint32_t seat : part->seats)
        plan.work.passes[i].kinds.push_back(kinds[slot * whole.seats() + seat]);
  }
  plan.work.part = std::move(part);
}

// Three at least, for one that goes without steps.
void RingLaws::find_members_here(Ring& ring) const {
  const std::vector<program::DeviceId>& members = lowerings_->program().groups[ring.group].members;
  std::vector<std::uint32_t> places(members.size(), nobody);
  std::uint32_t here = 0;
  for (std::uint32_t rank = 0; rank < members.size(); ++rank)
    if (parts_->members[members[rank]] != nullptr) places[rank] = here++;
  if (here == ring.size) return;
  ring.is_part = true;
  ring.is_usable = here > 2;
  ring.places = std::move(places);
  ring.size = here;
}

// A way that is not on this rank from end to end: who is at its ends goes step by step.
void RingLaws::make_gate(RingParts& parts, std::uint32_t way) {
  const std::uint32_t to = parts.shape.to[way];
  parts.gates[way] = true;
  parts.real[parts.shape.rank(way % parts.shape.seats())] = true;
  if (to != nobody) parts.real[parts.shape.rank(to)] = true;
  parts.ways.emplace_back(ways_, std::vector<machine::LinkId>{});
  parts.shifts.emplace_back();
}

// What comes from other ranks.
void RingLaws::find_gates_in(RingParts& parts, std::vector<machine::LinkId>& used) const {
  for (std::uint32_t way = 0; way < parts.shape.ways(); ++way) {
    if (parts.senders[way] != nobody) continue;
    parts.real[parts.shape.rank(way % parts.shape.seats())] = true;
    append_route(parts.shape.previous[way], parts.sender(way), used);
  }
}

void RingLaws::begin_part(const Ring& ring, Run& run) {
  RingParts& parts = ring.track->parts;
  run.waves = std::make_unique<RingWaves>(parts, *run.work);
  run.posts.resize(parts.shape.ways());
  run.received.resize(parts.shape.ways());
}

// A member here begins a collective. Those at the gates post when they do.
Takeover::Answer RingLaws::enter_part(pdes::Context& context, Ring& ring, Run& run, std::uint32_t rank,
                                      const Interruption& by) {
  RingParts& parts = ring.track->parts;
  Time begin = context.now();
  for (std::uint32_t way = rank; way < parts.shape.ways(); way += ring.size)
    begin = std::max(begin, parts.ways[way].clear_at());
  if (!is_in_range(begin, *run.work)) {
    run.entries[rank] = {};
    break_off(&context, ring, by);
    return Answer::step_by_step;
  }
  if (parts.is_real(rank)) return Answer::step_by_step;
  run.waves->enter(rank, run.entries[rank]);
  tell(context, ring, run, by.event);
  return run.waves->has_ended(rank) && run.waves->end_of(rank).at <= by.event ? Answer::ends_now : Answer::waits;
}

// What has become known: messages that come to members at the gates, and ends of the others.
void RingLaws::tell(pdes::Context& context, const Ring& ring, Run& run, const Moment& now) {
  const RingParts& parts = ring.track->parts;
  const std::uint32_t seats = parts.shape.seats();
  for (const RingWaves::Comes& one : run.waves->take_comes()) {
    const Moment at{one.at, parts.hops[parts.shape.way(one.way / seats, parts.shape.to[one.way])]};
    const MessageName name{parts.sender(one.way), ring.channel(one.way),
                           run.senders[one.way].first_message + one.number};
    parts_->members[parts.receiver(one.way)]->taken_delivers(
        context, at, {name, told_by_takeover | ring.broken_off, one.waited_until});
  }
  for (const std::uint32_t rank : run.waves->take_ended()) {
    const TakenEnd end = run.waves->end_of(rank);
    parts_->members[parts.shape.members[rank]]->taken_ends(context, run.members[rank].stream, end,
                                                           run.waves->waited_until(rank), end.at <= now);
  }
}

// The collective to which a message of a way belongs, of those that are under way as laws.
RingLaws::Run* RingLaws::run_of(Ring& ring, std::uint32_t way, std::uint32_t number) {
  for (Run& run : ring.runs) {
    const bool has_begun = run.is_law && run.entries[way % ring.size].at.time != never;
    if (has_begun && number - run.senders[way].first_message < run.work->sent[way].messages) return &run;
  }
  return nullptr;
}

std::optional<Time> RingLaws::carry(pdes::Context& context, machine::LinkId link, const MessageName& name,
                                    program::DeviceId destination, std::int64_t bytes, Time waited_until) {
  const auto [track, way] = reserved_by_[link];
  RingParts& parts = track->parts;
  Ring& ring = *track->owner;
  if (!parts.is_real(way % parts.shape.seats()) || ring.channel(way) != name.channel ||
      parts.receiver(way) != destination)
    return std::nullopt;
  Run* run = run_of(ring, way, name.sequence);
  if (run == nullptr || !is_in_range(context.now(), *run->work)) return std::nullopt;
  const std::vector<std::int64_t>& sizes = run->work->sizes;
  const auto kind = static_cast<std::uint32_t>(std::ranges::find(sizes, bytes) - sizes.begin());
  const RingPost& post = run->posts[way].emplace_back(RingPost{context.now(), waited_until, kind});
  run->waves->post(way, post);
  tell(context, ring, *run, {context.now(), 0});  // all comes later
  return parts.ways[way].left();
}

bool RingLaws::has_come(program::DeviceId to, const Delivered& message) {
  Ring& ring = *rings_[group_of(message.name.channel)];
  if (message.generation != (told_by_takeover | ring.broken_off)) return false;
  const RingParts& parts = ring.track->parts;
  const program::Group& group = lowerings_->program().groups[ring.group];
  const std::uint32_t rank = ring.place(*program::rank_in(group, message.name.sender));
  for (std::uint32_t way = rank; way < parts.shape.ways(); way += ring.size) {
    if (parts.receiver(way) != to || ring.channel(way) != message.name.channel || parts.is_gate(way)) continue;
    ++run_of(ring, way, message.name.sequence)->received[way];
  }
  return true;
}

// The first collective has been left by all that are here. Whoever breaks the ring off later walks from the next one.
void RingLaws::leave_behind(const Ring& ring) {
  RingParts& parts = ring.track->parts;
  const Run& over = ring.runs.front();
  const auto walk = [&parts](const Run& run) { RingWaves(parts, *run.work).take_in(run.inputs()); };
  if (ring.runs.size() > 1) {
    for (RingWay& path : parts.ways) path.rewind();
    walk(over);
  }
  for (RingWay& path : parts.ways) path.mark();
  if (ring.runs.size() > 1) walk(ring.runs[1]);
}

}  // namespace tessera::sim
