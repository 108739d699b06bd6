// All members of a struct are bound: one that is added does not compile until somebody has decided here whether it
// names a part of the machine or program.
#include "sim/fold/renaming.hpp"

#include <algorithm>

#include "tessera/base/error.hpp"
#include "tessera/program/group_rank.hpp"

namespace tessera::sim {

std::optional<std::uint32_t> Renaming::port(pdes::ComponentId of, std::uint32_t port) const {
  if (!tables_->is_device(of)) return port;
  const auto& first_link = tables_->network().first_link;
  const machine::LinkId link = first_link[of] + port;
  if (link >= first_link[of + 1] || !fold_->link_takes_part(link)) return std::nullopt;
  return fold_->shifted_link(link, times_) - first_link[fold_->shifted(of, times_)];
}

std::uint32_t Renaming::ports(pdes::ComponentId of) const {
  if (!tables_->is_device(of)) return 1;
  const pdes::ComponentId there = fold_->shifted(of, times_);
  return tables_->network().first_link[there + 1] - tables_->network().first_link[there];
}

void rename(const Renaming& renaming, Segment& segment) {
  auto& [name, generation, destination, link, waited_until, law, final, shortens, earlier] = segment;
  renaming.name(name);
  renaming.device(destination);
  renaming.link(link);
}

void rename(const Renaming& renaming, Segments& segments) {
  auto& [count, all] = segments;
  for (std::uint32_t i = 0; i < count; ++i) rename(renaming, all[i]);
}

void rename(const Renaming& renaming, Delivered& delivered) {
  auto& [name, generation, waited_until] = delivered;
  renaming.name(name);
}

void rename(const Renaming& renaming, Amend& amend) {
  auto& [name, generation, destination, packets] = amend;
  renaming.name(name);
  renaming.device(destination);
}

void rename(const Renaming& renaming, pdes::ComponentId of, PortWake& wake) {
  auto& [port, token] = wake;
  port = renaming.port(of, port).value_or(port);
}

namespace {

void rename_turn(const Renaming& renaming, PortTurn& turn) {
  auto& [time, component, link, ordinal] = turn;
  renaming.component(component);
  renaming.link(link);
}

void rename_run(const Renaming& renaming, TrainRun& run) {
  auto& [active, own, final, to_destination, awaited, stream, name, generation, destination, offered, service, apart] =
      run;
  if (!active) return;
  renaming.name(name);
  renaming.device(destination);
  if (!apart.is_made()) return;
  auto& [shares, turns, among, flows, rounds, goes_on, busy, last_turn, rounds_without_pause, burst_queue, singles] =
      apart.make();
  for (PlannedPlace& place : among) rename_turn(renaming, place.tie);
  for (MergingFlow& flow : flows) rename_turn(renaming, flow.turn);
  for (SinglePacket& one : singles) rename_turn(renaming, one.turn);
  rename_turn(renaming, last_turn);
}

void rename_port(const Renaming& renaming, TrainState& state) {
  if (!state.work.is_made()) return;
  auto& [run, own, amends, waiting, streams, unused_streams, next_ordinal, most_together, came_at, came_then,
         own_left_at, short_ends] = state.work.make();
  rename_run(renaming, run);
  own.rename(renaming);
  for (TimedAmend& one : amends) rename(renaming, one.amend);
  for (TrainWork::Waiting& one : waiting) rename_turn(renaming, one.turn);
  // Of equal times others may be first.
  std::ranges::make_heap(waiting, [](const auto& a, const auto& b) { return b.turn < a.turn; });
  for (TrainWork::Stream& one : streams) {
    auto& [segment, served, from, ordinal] = one;
    rename(renaming, segment);
    renaming.component(from);
  }
}

void rename_stream(const Renaming& renaming, const program::Program& program, program::DeviceId id, Stream& stream) {
  CollectiveRun& run = stream.collective;
  stream.in_hint = stream.out_hint = 0;
  if (run.phase == CollectiveRun::Phase::none) return;
  renaming.group(run.group);
  const auto rank = program::rank_in(program.groups[run.group], id);
  if (!rank) throw InternalError("a device goes on with a collective of a group that it is not in");
  run.rank = *rank;
}

/// Of a device's messages, by channel and the device at the other end, in order of both.
template <class Boxes>
void rename_boxes(const Renaming& renaming, Boxes& boxes) {
  for (auto& box : boxes) {
    auto other = static_cast<machine::NodeId>(box.key);
    auto channel = static_cast<std::uint32_t>(box.key >> 32U);
    renaming.device(other);
    renaming.channel(channel);
    box.key = std::uint64_t{channel} << 32U | other;
  }
  std::ranges::sort(boxes, {}, [](const auto& box) { return box.key; });
}

}  // namespace

void rename(const Renaming& renaming, pdes::ComponentId of, NodeState& state) {
  auto& [ports, taken_back, combiner] = state;
  std::vector<std::unique_ptr<PortState>> there(renaming.ports(of));
  for (std::uint32_t port = 0; port < ports.size(); ++port) {
    const auto place = renaming.port(of, port);
    if (!place) continue;
    rename_port(renaming, train_state(*ports[port]));
    there[*place] = std::move(ports[port]);
  }
  ports = std::move(there);
  for (TakenBack& one : taken_back) {
    renaming.name(one.name);
    renaming.device(one.destination);
  }
}

void rename(const Renaming& renaming, const program::Program& program, program::DeviceId id, SavedDevice& saved) {
  auto& [device, node, gpus] = saved;
  auto& [streams, mailboxes, outboxes, departures_awaited, messages_received, bytes_received, bytes_sent, strands,
         events, engine_free, time, flops, engine, memory, kernels_begun] = device;
  for (Stream& stream : streams) rename_stream(renaming, program, id, stream);
  for (Stream& strand : strands) rename_stream(renaming, program, id, strand);
  const program::DeviceId of = renaming.before(id);
  mailboxes.rename(renaming);
  outboxes.rename(renaming, of);
  rename(renaming, of, node);
}

namespace {

std::map<DeviceRecord::Line, std::int32_t> renamed(const Renaming& renaming,
                                                   const std::map<DeviceRecord::Line, std::int32_t>& lines) {
  std::map<DeviceRecord::Line, std::int32_t> others;
  for (const auto& [line, messages] : lines) {
    DeviceRecord::Line other = line;
    renaming.device(other.first);
    others[other] = messages;
  }
  return others;
}

}  // namespace

void rename(const Renaming& renaming, program::DeviceId id, DeviceRecord& record) {
  auto& [intervals, memory_changes, kernel_rows, marks, sent, taken, passes] = record;
  for (results::Interval& one : intervals) {
    one.device = id;
    rename_others(renaming, one);
  }
  for (results::MemoryChange& one : memory_changes) one.device = id;
  for (results::KernelRow& one : kernel_rows) one.device = id;
  sent = renamed(renaming, sent);
  taken = renamed(renaming, taken);
}

void rename_others(const Renaming& renaming, results::Interval& interval) {
  if (interval.peer >= 0) {
    auto peer = static_cast<machine::NodeId>(interval.peer);
    renaming.device(peer);
    interval.peer = static_cast<std::int32_t>(peer);
  }
  if (interval.group < 0) return;
  auto group = static_cast<program::GroupId>(interval.group);
  renaming.group(group);
  interval.group = static_cast<std::int32_t>(group);
}

void Mailboxes::rename(const Renaming& renaming) { rename_boxes(renaming, boxes_); }

// A message to itself has no port.
void Outboxes::rename(const Renaming& renaming, machine::NodeId of) {
  for (Box& box : boxes_) box.port = renaming.port(of, box.port).value_or(0);
  rename_boxes(renaming, boxes_);
}

void Injector::rename(const Renaming& renaming) {
  for (Held& held : places_) {
    renaming.name(held.message.name);
    renaming.device(held.message.destination);
  }
  renaming.device(last_destination_);
  renaming.channel(last_channel_);
}

}  // namespace tessera::sim
