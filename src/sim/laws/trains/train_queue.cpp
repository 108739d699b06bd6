// The longest queue of a link: what a run has sent is counted when that can no longer change.
#include <algorithm>

#include "sim/laws/trains/train_port.hpp"

namespace tessera::sim {
namespace {

void count_stream_run(const TrainWork& work, const NetworkTables& tables, QueuePeak& queue) {
  const Service& service = work.run.service;
  const PacketTimes& out = service.out;
  const PacketTimes& arrivals = work.streams[work.run.stream].times;
  const Rate& arrival_rate = tables.rate(arrivals.rate);
  const std::uint32_t whole = service.last_apart ? out.count - 1 : out.count;
  if (!service.paced && queue.find_no_more(arrivals, arrival_rate, out)) {
    if (!service.last_apart) return;
    // Nor does the last one, if it is like the others, or comes later.
    if (out.last_bytes == tables.packet() && arrivals.last >= arrivals.of_form(whole, arrival_rate)) return;
  } else if (!service.paced) {
    queue.packets(arrivals, arrival_rate, whole, out);
  }
  if (service.last_apart) queue.packet(arrivals.last, out.last_bytes, service.after);
}

// Only the first one may wait: each other one is offered when the one before has left, and what has come before it is
// served before it.
void count_own_run(const TrainRun& run, std::int64_t packet, QueuePeak& queue) {
  const Service& service = run.service;
  const PacketTimes& out = service.out;
  if (out.count == 1) return queue.packet(run.offered, out.last_bytes, service.after);
  queue.packet(run.offered, packet, {out.base, out.offset});
  queue.pass(out.last_bytes, service.after);
}

void count_rounds(const TrainRun& run, QueuePeak& queue) {
  std::size_t next = 0;
  for (const MergingFlow& flow : run.together().flows) {
    PacketTimes arrivals = flow.arrivals;
    const bool is_regular = arrivals.count > 1;
    const std::int64_t every = is_regular ? run.together().rounds.stride() / arrivals.stride : 1;
    arrivals.stride = run.together().rounds.stride();
    for (std::int64_t i = 0; i < every; ++i, ++next) {
      if (is_regular)
        queue.packets(arrivals, *run.together().rounds.rate(), run.together().rounds_without_pause,
                      run.together().shares[next].out);
      arrivals.offset += flow.arrivals.stride;
    }
  }
}

void count_merged(const TrainRun& run, QueuePeak& queue) {
  if (run.together().rounds_without_pause > 0) count_rounds(run, queue);
  queue.raise(run.together().burst_queue);
  for (const SinglePacket& one : run.together().singles) queue.packet(one.turn.time, one.bytes, one.behind);
}

void count_mixed(const TrainRun& run, const Rate& rate, QueuePeak& queue) {
  for (std::size_t i = 0; i < run.together().shares.size(); ++i)
    queue.packets(run.together().among[i].turns, rate, run.together().shares[i].out.count,
                  run.together().shares[i].out);
}

}  // namespace

// What the run has sent is behind the server. Most own messages find the link idle and end with a whole packet: then
// nothing has waited, and nothing is to be remembered.
void TrainPort::put_behind() {
  const TrainRun& run = work().run;
  const Service& service = run.service;
  const bool is_plain =
      run.own && !run.has_shares() && service.first_start == run.offered && service.out.last_bytes == tables_->packet();
  if (!is_plain) count_queue();
  state_.busy = service.after;
  if (state_.busy.bytes >= much_in_a_period) [[unlikely]]
    QueuePeak(rate(), tables_->packet(), work().short_ends, state_.counts.peak_queue).shorten(state_.busy);
}

void TrainPort::count_queue() {
  const TrainRun& run = work().run;
  QueuePeak queue(rate(), tables_->packet(), work().short_ends, state_.counts.peak_queue);
  if (!run.has_shares()) {
    run.own ? count_own_run(run, tables_->packet(), queue) : count_stream_run(work(), *tables_, queue);
  } else if (run.own) {
    count_turns(queue);
  } else {
    run.is_mixed() ? count_mixed(run, rate(), queue) : count_merged(run, queue);
  }
}

// As of an own run: only the first one may wait.
void TrainPort::count_turns(QueuePeak& queue) const {
  const PlannedTurns& turns = work().run.together().turns;
  const auto behind = [&](std::uint32_t packets) {
    return BusyPeriod{turns.period.start, turns.period.bytes + turn_bytes(packets)};
  };
  queue.packet(work().run.offered, turn_bytes(1), behind(1));
  for (std::uint32_t i = std::max(1U, turns.rounds * turns.takers()); i < turns.kept; ++i)
    queue.pass(turn_bytes(i + 1) - turn_bytes(i), behind(i + 1));
}

}  // namespace tessera::sim
