// When rings are taken as laws, and their ends. Which may be: which_rings.cpp; whose a link is: reserved_ways.cpp; how
// a ring is broken off: break_off.cpp.
#include "sim/laws/rings/ring_laws.hpp"

#include <algorithm>
#include <utility>

#include "sim/laws/rings/ring.hpp"
#include "tessera/base/error.hpp"

namespace tessera::sim {
namespace {

bool is_same(const program::Collective& a, const program::Collective& b) {
  return a.kind == b.kind && a.bytes == b.bytes && a.element == b.element && a.algorithm == b.algorithm &&
         a.rings == b.rings;
}

}  // namespace

RingLaws::RingLaws(const NetworkTables& tables, program::Lowerings& lowerings, const RankParts& parts, const Fold* fold,
                   Arrivals* arrivals, Addition addition)
    : tables_(&tables),
      lowerings_(&lowerings),
      parts_(&parts),
      fold_(fold),
      arrivals_(arrivals),
      addition_(std::move(addition)),
      ways_(tables),
      rings_(lowerings.program().groups.size()),
      reserved_by_(tables.network().links.size()) {}

RingLaws::~RingLaws() = default;

std::unique_ptr<RingLaws::Ring> RingLaws::make_ring(program::GroupId group) const {
  auto ring = std::make_unique<Ring>();
  ring->group = group;
  ring->size = static_cast<std::uint32_t>(lowerings_->program().groups[group].members.size());
  fold_ != nullptr ? find_places(*ring) : find_members_here(*ring);
  ring->begun.assign(ring->size, 0);
  ring->left.assign(ring->size, 0);
  return ring;
}

RingLaws::Ring& RingLaws::ring_at(program::GroupId group) {
  std::unique_ptr<Ring>& ring = rings_[group];
  if (ring == nullptr) ring = make_ring(group);
  return *ring;
}

Takeover::Answer RingLaws::enter(pdes::Context& context, pdes::ComponentId source, std::uint32_t in_turn,
                                 const Stream& stream) {
  const CollectiveRun& collective = stream.collective;
  const auto [ring, work] = ring_of(collective);
  if (work == nullptr) return Answer::step_by_step;
  if (meetings_ != nullptr && std::exchange(ring->met_on, work->track) != work->track) [[unlikely]]
    meetings_->meet(parts_of(*ring, *work->track));
  const std::uint32_t rank = ring->place(collective.rank);
  const Moment now{context.now(), source};
  const bool is_own = source == lowerings_->program().groups[ring->group].members[collective.rank];
  const Interruption by{now, is_own ? in_turn : any_stream};
  Run* run = run_of(context, *ring, by, collective, *work);
  if (run == nullptr || !run->is_law) return Answer::step_by_step;
  if (!reserve_ways(context, *ring, *run, rank)) {
    break_off(&context, *ring, by);
    return Answer::step_by_step;
  }
  run->entries[rank] = {now, collective.waited_until};
  run->members[rank].stream = stream.index;
  const RingShape& shape = ring->track->parts.shape;
  TakenMember& member = *parts_->members[shape.members[rank]];
  for (std::uint32_t way = rank; way < shape.ways(); way += ring->size) {
    const std::uint32_t strand = shape.strands == 1 ? 0 : way / ring->size % shape.strands;
    run->senders[way] = {member.taken_stream(stream.index, strand, shape.strands),
                         member.next_message(ring->track->parts.receiver(way), ring->channel(way))};
  }
  if (ring->is_part) return enter_part(context, *ring, *run, rank, by);
  run->waited_until = std::max(run->waited_until, collective.waited_until);
  if (++run->entered < ring->size) return Answer::waits;
  if (!ends_in_range(ring->track->parts, *run->work, run->entries)) {  // some link's name belongs to the error
    run->entries[rank] = {};
    --run->entered;
    break_off(&context, *ring, by);
    return Answer::step_by_step;
  }
  find_ends(context, *ring, *run, now);
  return run->ends[rank].at <= now ? Answer::ends_now : Answer::waits;
}

// From now on its members go step by step.
void RingLaws::give_up(pdes::Context& context, Ring& ring, const Interruption& now) {
  if (ring.is_reserved()) break_off(&context, ring, now);
  for (Run& run : ring.runs) {
    for (std::uint32_t rank = 0; rank < run.members.size(); ++rank) {
      if (run.members[rank].is_whole) count(ring, run, rank);
    }
  }
  ring.runs.clear();
  ring.is_usable = false;
}

// The collective that a member begins; null where this ring cannot be one.
RingLaws::Run* RingLaws::run_of(pdes::Context& context, Ring& ring, const Interruption& now,
                                const CollectiveRun& collective, const Work& work) {
  const std::uint32_t rank = ring.place(collective.rank), number = ring.begun[rank]++;
  const std::size_t place = number - ring.first;
  const bool is_beside_another = ring.left[rank] != number;  // on another stream
  const program::Program& program = lowerings_->program();
  const bool is_new = place == ring.runs.size();
  if (is_beside_another ||
      (!is_new && !is_same(program.collectives[collective.index], program.collectives[ring.runs[place].index]))) {
    give_up(context, ring, now);
    return nullptr;
  }
  if (!is_new) return &ring.runs[place];
  // On other ways than the ones before, it waits until these are over.
  if (ring.is_reserved() && ring.track != work.track) break_off(&context, ring, now);
  const bool is_first = ring.runs.empty();
  if (is_first) ring.track = work.track;
  Run& run = ring.runs.emplace_back();
  run.index = collective.index;
  run.is_law = ring.is_reserved() || (is_first && take(ring, *work.track));
  if (!run.is_law) return &run;
  run.work = &work.work;
  run.entries.resize(ring.size);
  run.members.resize(ring.size);
  run.senders.resize(ring.track->parts.shape.ways());
  if (ring.is_part) begin_part(ring, run);
  return &run;
}

void RingLaws::find_ends(pdes::Context& context, Ring& ring, Run& run, const Moment& now) {
  for (RingWay& path : ring.track->parts.ways) path.mark();
  run.ends = ends_of(ring.track->parts, *run.work, run.entries);
  for (RingWay& path : ring.track->parts.ways) {
    path.take_in_guests();
    path.shed();
  }
  for (std::size_t i = 0; i < run.ends.size(); ++i) {
    const TakenEnd& end = run.ends[i];
    const program::DeviceId device = ring.track->parts.shape.members[i];
    parts_->members[device]->taken_ends(context, run.members[i].stream, end, run.waited_until, end.at <= now);
  }
}

void RingLaws::leave(const CollectiveRun& collective) {
  const auto [ring, work] = ring_of(collective);
  if (work == nullptr) return;
  const std::uint32_t rank = ring->place(collective.rank);
  Run& run = ring->runs[ring->left[rank]++ - ring->first];
  const bool is_whole = !run.members.empty() && std::exchange(run.members[rank].is_whole, false);
  if (is_whole || (run.is_law && !ring->track->parts.is_real(rank))) count(*ring, run, rank);
  ++run.left;
  while (!ring->runs.empty() && ring->runs.front().left == ring->size) {
    if (ring->is_part && ring->runs.front().is_law) leave_behind(*ring);
    ring->runs.erase(ring->runs.begin());
    ++ring->first;
  }
}

// What a member has sent and received in all of it.
void RingLaws::count(const Ring& ring, const Run& run, std::uint32_t rank) {
  const RingParts& parts = ring.track->parts;
  for (std::uint32_t way = rank; way < parts.shape.ways(); way += ring.size) {
    const RingSum &sent = run.work->sent[way], &received = run.work->sent[parts.way_before(way)];
    parts_->members[parts.shape.members[rank]]->count_taken(
        {ring.channel(way), parts.receiver(way), sent.messages, sent.bytes, received.bytes});
  }
}

void RingLaws::tell_meetings(RingMeetings* meetings) {
  meetings_ = meetings;
  for (const std::unique_ptr<Ring>& ring : rings_)
    if (ring != nullptr) ring->met_on = nullptr;
}

std::vector<pdes::ComponentId> RingLaws::parts_of(const Ring& ring, const Track& track) const {
  std::vector<pdes::ComponentId> parts = lowerings_->program().groups[ring.group].members;
  for (const RingWay& way : track.parts.ways)
    for (const machine::LinkId link : way.links()) parts.push_back(tables_->server(link));
  return parts;
}

std::vector<std::vector<pdes::ComponentId>> RingLaws::under_way() const {
  std::vector<std::vector<pdes::ComponentId>> found;
  for (const std::unique_ptr<Ring>& ring : rings_)
    if (ring != nullptr && ring->track != nullptr && (ring->is_reserved() || !ring->runs.empty()))
      found.push_back(parts_of(*ring, *ring->track));
  return found;
}

void RingLaws::finish() {
  for (const std::unique_ptr<Ring>& ring : rings_) {
    if (ring != nullptr && ring->is_reserved()) break_off(nullptr, *ring, {{latest, 0}});
  }
}

}  // namespace tessera::sim
