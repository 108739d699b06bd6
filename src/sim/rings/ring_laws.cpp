// When rings are taken as laws, and their ends. How one is broken off: break_off.cpp.
#include "sim/rings/ring_laws.hpp"

#include <algorithm>
#include <utility>

#include "sim/rings/ring.hpp"
#include "tessera/base/error.hpp"

namespace tessera::sim {
namespace {

bool is_same(const program::Collective& a, const program::Collective& b) {
  return a.kind == b.kind && a.bytes == b.bytes && a.element == b.element && a.algorithm == b.algorithm;
}

}  // namespace

RingLaws::RingLaws(const NetworkTables& tables, program::Lowerings& lowerings, const RankParts& parts,
                   Addition addition)
    : tables_(&tables),
      lowerings_(&lowerings),
      parts_(&parts),
      addition_(std::move(addition)),
      ways_(tables),
      rings_(lowerings.program().groups.size()),
      reserved_by_(tables.network().links.size(), nullptr) {}

RingLaws::~RingLaws() = default;

bool RingLaws::may_take(const program::Collective& collective, const program::Lowering& lowering) {
  static const std::uint32_t ring = program::algorithm_index("ring");
  return lowering.algorithm == ring && lowering.rings == 1 && collective.kind != program::CollectiveKind::all_to_all;
}

// Null: its members go step by step, now and always.
RingLaws::Ring* RingLaws::ring_of(const CollectiveRun& run) {
  if (!may_take(lowerings_->program().collectives[run.index], run.lowering)) return nullptr;
  std::unique_ptr<Ring>& ring = rings_[run.group];
  if (ring == nullptr) ring = make_ring(run.group);
  return ring->is_usable ? ring.get() : nullptr;
}

std::unique_ptr<RingLaws::Ring> RingLaws::make_ring(program::GroupId group) {
  const std::vector<program::DeviceId>& members = lowerings_->program().groups[group].members;
  std::unique_ptr<Track>& track = tracks_[members];
  if (track == nullptr) track = make_track(members);
  auto ring = std::make_unique<Ring>();
  ring->group = group;
  ring->track = track.get();
  ring->is_usable = track->is_usable;
  ring->begun.assign(members.size(), 0);
  ring->left.assign(members.size(), 0);
  return ring;
}

std::unique_ptr<RingLaws::Track> RingLaws::make_track(const std::vector<program::DeviceId>& members) {
  auto track = std::make_unique<Track>();
  const std::size_t size = members.size();
  track->parts.members = members;
  track->parts.hops.resize(size);
  std::vector<machine::LinkId> used;
  const machine::Network& network = tables_->network();
  for (std::size_t i = 0; i < size && size > 1; ++i) {
    const program::DeviceId to = members[(i + 1) % size];
    std::vector<machine::LinkId> links;
    for (machine::NodeId node = members[i]; node != to; node = network.links[links.back()].to) {
      links.push_back(network.router->next(node, to));
      if (parts_->nodes[tables_->server(links.back())] == nullptr) return track;
    }
    if (parts_->members[to] == nullptr) return track;
    used.insert(used.end(), links.begin(), links.end());
    track->parts.hops[(i + 1) % size] = tables_->server(links.back());
    track->parts.paths.emplace_back(ways_, std::move(links));
  }
  std::sort(used.begin(), used.end());
  track->is_usable = size > 1 && std::adjacent_find(used.begin(), used.end()) == used.end();
  return track;
}

const RingWork& RingLaws::work_of(Ring& ring, const CollectiveRun& run) {
  for (const auto& [index, work] : ring.works) {
    if (index == run.index) return *work;
  }
  const program::Collective& collective = lowerings_->program().collectives[run.index];
  auto work = std::make_unique<RingWork>();
  work->kind = collective.kind;
  work->bytes = collective.bytes;
  work->element = collective.element;
  work->steps = run.steps;
  const auto members = static_cast<std::uint32_t>(ring.track->parts.members.size());
  for (const program::DeviceId member : ring.track->parts.members) {
    const auto chunk = [&](std::uint32_t index) {
      return program::chunk_bytes(collective.bytes, collective.element, members, index).value();
    };
    work->additions.push_back({addition_(member, chunk(0)), addition_(member, chunk(members - 1)), 0});
  }
  for (std::uint32_t rank = 0; rank < members; ++rank)
    work->sent.push_back(bytes_sent(*work, members, rank, work->steps));
  return *ring.works.emplace_back(run.index, std::move(work)).second;
}

std::uint32_t RingLaws::port_of(machine::LinkId link) const {
  const pdes::ComponentId server = tables_->server(link);
  return tables_->is_device(server) ? link - tables_->network().first_link[server] : 0;
}

OutputPort& RingLaws::port_at(machine::LinkId link) const {
  return parts_->nodes[tables_->server(link)]->port(port_of(link));
}

// True when all its links are idle; then it has them for itself.
bool RingLaws::reserve(pdes::Context& context, Ring& ring) {
  Track& track = *ring.track;
  if (track.owner != nullptr) {  // another group of these devices: it hands the track over as it is
    if (!track.owner->runs.empty()) return false;
    track.owner = &ring;
    return true;
  }
  for (const RingPath& path : track.parts.paths) {
    for (const machine::LinkId link : path.links()) {
      pdes::Context own = context.of(tables_->server(link));
      // Another ring that does nothing gives them up.
      if (port_at(link).reserved() && reserved_by_[link]->owner->runs.empty())
        break_off(&context, *reserved_by_[link]->owner, {context.now(), 0});
      if (port_at(link).reserved() || !parts_->nodes[own.self()]->settle(own, port_of(link))) return false;
    }
  }
  for (RingPath& path : track.parts.paths) {
    std::vector<BusyPeriod> busy;
    std::vector<ShortEnds> short_ends;
    for (const machine::LinkId link : path.links()) {
      const PortState& port = port_at(link).state();
      const bool is_over = port.busy.end(tables_->rate(link)) < context.now();
      busy.push_back(port.busy);
      short_ends.push_back(is_over ? ShortEnds{} : port.short_ends);
      port_at(link).reserve();
      reserved_by_[link] = &track;
    }
    path.begin(busy, short_ends);
  }
  track.owner = &ring;
  return true;
}

RingLaws::Answer RingLaws::enter(pdes::Context& context, pdes::ComponentId source, const Stream& stream) {
  const CollectiveRun& collective = stream.collective;
  Ring* ring = ring_of(collective);
  if (ring == nullptr) return Answer::step_by_step;
  const std::uint32_t rank = collective.rank;
  const Moment now{context.now(), source};
  Run* run = run_of(context, *ring, now, collective);
  if (run == nullptr || !run->is_law) return Answer::step_by_step;
  run->entries[rank] = {now, collective.waited_until};
  run->members[rank].stream = stream.index;
  run->members[rank].batch = stream.batch;
  const auto size = static_cast<std::uint32_t>(ring->track->parts.members.size());
  run->members[rank].first_message = parts_->members[ring->track->parts.members[rank]]->next_message(
      ring->track->parts.members[rank + 1 == size ? 0 : rank + 1], ring->channel());
  run->waited_until = std::max(run->waited_until, collective.waited_until);
  if (++run->entered < size) return Answer::waits;
  if (!ends_in_range(ring->track->parts, *run->work, run->entries)) {  // some link's name belongs to the error
    run->entries[rank] = {};
    --run->entered;
    break_off(&context, *ring, now);
    return Answer::step_by_step;
  }
  find_ends(context, *ring, *run, now);
  return run->ends[rank].at <= now ? Answer::ends_now : Answer::waits;
}

// From now on its members go step by step.
void RingLaws::give_up(pdes::Context& context, Ring& ring, const Moment& now) {
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
RingLaws::Run* RingLaws::run_of(pdes::Context& context, Ring& ring, const Moment& now,
                                const CollectiveRun& collective) {
  const std::uint32_t number = ring.begun[collective.rank]++;
  const std::size_t place = number - ring.first;
  const bool is_beside_another = ring.left[collective.rank] != number;  // on another stream
  const program::Program& program = lowerings_->program();
  const bool is_new = place == ring.runs.size();
  if (is_beside_another ||
      (!is_new && !is_same(program.collectives[collective.index], program.collectives[ring.runs[place].index]))) {
    give_up(context, ring, now);
    return nullptr;
  }
  if (!is_new) return &ring.runs[place];
  Run& run = ring.runs.emplace_back();
  run.index = collective.index;
  run.is_law = ring.runs.size() > 1 ? ring.is_reserved() : ring.is_reserved() || reserve(context, ring);
  if (!run.is_law) return &run;
  run.work = &work_of(ring, collective);
  run.entries.resize(ring.track->parts.members.size());
  run.members.resize(ring.track->parts.members.size());
  return &run;
}

void RingLaws::find_ends(pdes::Context& context, Ring& ring, Run& run, const Moment& now) {
  for (RingPath& path : ring.track->parts.paths) path.mark();
  run.ends = ends_of(ring.track->parts, *run.work, run.entries);
  if (trace_ != nullptr) tell_use(ring.track->parts, run, never);
  for (std::size_t i = 0; i < run.ends.size(); ++i) {
    const RingEnd& end = run.ends[i];
    const program::DeviceId device = ring.track->parts.members[i];
    parts_->members[device]->ring_ends(context, run.members[i].stream, end, run.waited_until, end.at <= now);
  }
}

// Up to its end, or to where it is broken off: what is on its way then is in the ports.
void RingLaws::tell_use(const RingParts& parts, const Run& run, Time end) const {
  for (std::size_t i = 0; i < parts.paths.size(); ++i) {
    const Time begin = run.entries[i].at.time;
    if (begin > end) continue;  // it has not entered
    for (const machine::LinkId link : parts.paths[i].links())
      trace_->in_use(link, begin, end == never ? parts.paths[i].clear_at() : end);
  }
}

void RingLaws::leave(const CollectiveRun& collective) {
  Ring* ring = ring_of(collective);
  if (ring == nullptr) return;
  const std::uint32_t rank = collective.rank;
  Run& run = ring->runs[ring->left[rank]++ - ring->first];
  if (run.is_law || (!run.members.empty() && run.members[rank].is_whole)) count(*ring, run, rank);
  ++run.left;
  while (!ring->runs.empty() && ring->runs.front().left == ring->track->parts.members.size()) {
    ring->runs.pop_front();
    ++ring->first;
  }
}

// What a member has sent and received in all of it.
void RingLaws::count(const Ring& ring, const Run& run, std::uint32_t rank) {
  const auto size = static_cast<std::uint32_t>(ring.track->parts.members.size());
  const std::uint32_t before = rank == 0 ? size - 1 : rank - 1, behind = rank + 1 == size ? 0 : rank + 1;
  parts_->members[ring.track->parts.members[rank]]->count_ring(
      ring.channel(), ring.track->parts.members[behind],
      {run.work->steps, run.work->sent[rank], run.work->sent[before]});
}

void RingLaws::break_off(pdes::Context& context, pdes::ComponentId source, machine::LinkId link) {
  break_off(&context, *reserved_by_[link]->owner, {context.now(), source});
}

void RingLaws::finish() {
  for (const std::unique_ptr<Ring>& ring : rings_) {
    if (ring != nullptr && ring->is_reserved()) break_off(nullptr, *ring, {latest, 0});
  }
}

void RingLaws::break_off_all(pdes::Context& context, Time now) {
  for (const std::unique_ptr<Ring>& ring : rings_) {
    if (ring == nullptr) continue;
    if (ring->is_reserved()) break_off(&context, *ring, {now - 1, ~pdes::ComponentId{0} - 1});
    for (Run& run : ring->runs) {
      for (std::uint32_t rank = 0; rank < run.members.size(); ++rank) {
        if (std::exchange(run.members[rank].is_whole, false)) count(*ring, run, rank);
      }
    }
  }
}

// Where nobody is in a collective, a group begins as if it had carried out none.
void RingLaws::go_on_from(const RingLaws& other, std::uint32_t order,
                          const std::function<program::GroupId(program::GroupId, std::uint32_t)>& shifted,
                          const std::vector<bool>& is_in) {
  for (program::GroupId group = 0; group < is_in.size(); ++group) {
    const Ring* before = other.rings_[group].get();
    if (before == nullptr || (!is_in[group] && before->runs.empty())) continue;
    for (std::uint32_t times = 0; times < order; ++times) {
      std::unique_ptr<Ring>& ring = rings_[shifted(group, times)];
      ring = make_ring(shifted(group, times));
      ring->is_usable = ring->is_usable && before->is_usable;
      if (!ring->is_usable) continue;
      ring->begun = before->begun;
      ring->left = before->left;
      ring->first = before->first;
      for (const Run& run : before->runs) {
        Run& same = ring->runs.emplace_back();
        same.index = run.index;
        same.entered = run.entered;
        same.left = run.left;
      }
    }
  }
}

}  // namespace tessera::sim
