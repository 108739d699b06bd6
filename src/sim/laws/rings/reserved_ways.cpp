// Whose links are: each way of a ring has its own for itself from when its sender enters until something else comes.
#include <algorithm>

#include "sim/laws/fold/fold.hpp"
#include "sim/laws/rings/ring.hpp"
#include "sim/laws/trains/settle.hpp"

namespace tessera::sim {

std::uint32_t RingLaws::port_of(machine::LinkId link) const {
  const pdes::ComponentId server = tables_->server(link);
  return tables_->is_device(server) ? link - tables_->network().first_link[server] : 0;
}

TrainPort& RingLaws::port_at(machine::LinkId link) const {
  return train_port(parts_->nodes[tables_->server(link)]->port(port_of(link)));
}

// Another group of these devices that is in no collective hands the track over as it is.
bool RingLaws::take(Ring& ring, Track& track) {
  if (track.owner != nullptr && !track.owner->runs.empty()) return false;
  track.owner = &ring;
  return true;
}

// The ways of a member that enters. False: some link of one is in use.
bool RingLaws::reserve_ways(pdes::Context& context, const Ring& ring, const Run& run, std::uint32_t rank) {
  Track& track = *ring.track;
  for (std::uint32_t way = rank; way < track.parts.shape.ways(); way += ring.size) {
    if (track.is_reserved[way]) continue;
    // Somebody may still be in the collective before, in which it was used: that may have to be walked through again.
    if (&run != &ring.runs.front() && (ring.is_part || !ring.runs.front().ends.empty())) return false;
    if (!reserve(context, track, way, *run.work)) return false;
  }
  return true;
}

bool RingLaws::reserve(pdes::Context& context, Track& track, std::uint32_t way, const RingWork& work) {
  RingWay& path = track.parts.ways[way];
  // Messages without bytes come when what leaves the links now does, and the order of both is not the ring's to say.
  const bool may_tie = std::ranges::find(work.sizes, 0) != work.sizes.end();
  for (const machine::LinkId link : path.links()) {
    pdes::Context own = context.of(tables_->server(link));
    if (!free_up(link, context.now())) {
      Ring& before = *reserved_by_[link].track->owner;
      if (!before.runs.empty()) return false;
      break_off(&context, before, {{context.now(), 0}});
    }
    if (!settle(*parts_->nodes[own.self()], own, port_of(link))) return false;
    if (may_tie && port_at(link).state().busy.end(tables_->rate(link)) == context.now()) return false;
  }
  Time own_left = 0;  // of the first link
  std::vector<BusyPeriod> busy;
  std::vector<ShortEnds> short_ends;
  for (const machine::LinkId link : path.links()) {
    const TrainState& port = port_at(link).state();
    if (busy.empty()) own_left = port_at(link).own_left();
    const bool is_over = port.busy.end(tables_->rate(link)) < context.now();
    busy.push_back(is_over ? BusyPeriod{} : port.busy);
    short_ends.push_back(is_over ? ShortEnds{} : port.work.get().short_ends);
    port_at(link).reserve();
    reserved_by_[link] = {&track, way};
  }
  path.begin(busy, short_ends, own_left);
  track.is_reserved[way] = true;
  return true;
}

// Nothing of the collectives that have been entered is on the way, or will be.
bool RingLaws::is_at_rest(const Reserved& reserved, Time now) const {
  const Ring& ring = *reserved.track->owner;
  const RingWay& path = reserved.track->parts.ways[reserved.way];
  for (const Run& run : ring.runs) {
    if (run.entries[reserved.way % ring.size].at.time == never) continue;
    const bool has_sent_all = run.waves != nullptr
                                  ? run.waves->sent(reserved.way) == run.work->sent[reserved.way].messages
                                  : !run.ends.empty();
    if (!has_sent_all) return false;
  }
  return path.delivered() < now;
}

// Whoever breaks the ring off later walks through its collectives again, from the path's mark on.
void RingLaws::release(const Reserved& reserved) {
  RingWay path = reserved.track->parts.ways[reserved.way];
  const std::vector<BusyPeriod> busy = path.busy();
  const std::vector<ShortEnds> short_ends = path.short_ends();
  const std::vector<LinkCounts> counts = path.take_counts();
  for (std::size_t i = 0; i < path.links().size(); ++i) {
    TrainPort& port = port_at(path.links()[i]);
    port.release();
    port.passed(busy[i], counts[i], short_ends[i]);
  }
  reserved.track->is_reserved[reserved.way] = false;
}

bool RingLaws::free_up(machine::LinkId link, Time now) {
  if (!port_at(link).reserved()) return true;
  if (!is_at_rest(reserved_by_[link], now)) return false;
  release(reserved_by_[link]);
  return true;
}

void RingLaws::break_off(pdes::Context& context, pdes::ComponentId source, machine::LinkId link, std::uint32_t stream) {
  const Reserved& reserved = reserved_by_[link];
  if (is_at_rest(reserved, context.now())) return release(reserved);
  const bool is_own = source == tables_->server(link);
  break_off(&context, *reserved.track->owner, {{context.now(), source}, is_own ? stream : any_stream});
}

// Of the first link of a way the device itself.
pdes::ComponentId RingLaws::sender_to(machine::LinkId link) const {
  const auto& [track, way] = reserved_by_[link];
  const std::vector<machine::LinkId>& links = track->parts.ways[way].links();
  const auto place = static_cast<std::size_t>(std::ranges::find(links, link) - links.begin());
  const pdes::ComponentId sender = tables_->server(links[place > 0 ? place - 1 : 0]);
  if (fold_ == nullptr || place == 0) return sender;
  const std::vector<std::uint32_t>& shifts = track->parts.shifts[way];
  return fold_->shifted(sender, fold_->order() + shifts[place - 1] - shifts[place]);
}

}  // namespace tessera::sim
