// What of the parts' state is a time, a sum, or has to be the same (state_list.hpp).
#include "sim/execution/device.hpp"
#include "sim/periods/state_list.hpp"
#include "sim/rings/ring.hpp"

namespace tessera::sim {
namespace {

void list_moment(StateList& list, Moment& moment) {
  list.time(moment.time);
  list.same(moment.source);
}

void list_collective(StateList& list, CollectiveRun& run) {
  list.same(run.phase);
  if (run.phase == CollectiveRun::Phase::none) return;  // the rest is of the last one
  list.same(run.wait_sends);
  list.same(run.index);
  list.same(run.group);
  list.same(run.strand);
  list.same(run.step);
  list.same(run.steps);
  list.same(run.reduce);
  list.time(run.waited_until);
  list.same(run.strands);
  list.same(run.strands_left);
  list.time(run.ended);
}

void list_stream(StateList& list, Stream& stream) {
  list.same(stream.parent);
  list.same(stream.state);
  list.limit(stream.left);
  list.limit(stream.batch_left);
  if (stream.parent != no_stream && stream.state == StreamState::done) return;  // a strand that is not in use
  list.limit(stream.wake);
  list.time(stream.clock);
  list.time(stream.since);
  list.same(stream.missing);
  list.same(stream.launched);
  list_collective(list, stream.collective);
  list.position(stream.frames);
  list.same(stream.waits.size());
  for (WaitSpan& span : stream.waits) {
    list.time(span.begin);
    list.time(span.end);
    list.same(span.activity);
  }
}

/// Where a device runs out of it, or releases what is not there.
void list_checked_memory(StateList& list, const MemoryAccount& memory) {
  for (const auto* bytes : {&memory.level, &memory.category_peak, &memory.at_peak}) {
    for (const std::int64_t one : *bytes) list.same(one);
  }
  list.same(memory.peak_time);
}

void list_counts(StateList& list, LinkCounts& counts) {
  list.sum(counts.bytes);
  list.sum(counts.messages);
  list.sum(counts.busy);
}

/// An idle port; what it has sent is over.
void list_port(StateList& list, NetworkNode& node, OutputPort& port, const Rate& rate) {
  if (!port.settle(list.now(), node) || port.state().busy.end(rate) >= list.now()) return list.refuse();
  const LinkCounts before = port.counts();
  LinkCounts counts = before;
  list.same(port.reserved());
  list_counts(list, counts);
  if (counts.messages == before.messages && counts.bytes == before.bytes) return;
  port.passed(port.state().busy,
              {counts.bytes - before.bytes, counts.messages - before.messages, counts.busy - before.busy});
}

}  // namespace

void list_node(StateList& list, NetworkNode& node, const NetworkTables& tables) {
  for (std::uint32_t i = 0; i < node.ports().size(); ++i)
    list_port(list, node, node.port(i), tables.rate(node.port(i).link()));
}

void Mailboxes::list(StateList& list) {
  list.same(boxes_.size());
  for (const Box& box : boxes_) {
    list.same(box.key);
    list.same(box.missing);
    if (box.missing > 0) list.same(box.stream);
    std::size_t early = 0;
    for (std::uint32_t place = box.first; place != none; place = early_[place].next, ++early)
      list.time(early_[place].waited_until);
    list.same(early);
  }
}

void ComputeEngine::list(StateList& list) {
  list.same(jobs_.size());
  list.same(taken_.cores);
  list.same(taken_.memory_rate);
  list.same(busy_);
  if (!busy_) return;
  list.time(began_);
  list.time(since_);
  list.same(left_);
  for (const Queued& one : jobs_) {
    const ComputeJob& job = one.job;
    for (const std::uint32_t word : {job.stream, job.op, job.count, job.block, job.instruction}) list.same(word);
    list.same(one.alone);
    list.same(one.at_rate);
  }
}

void CollectiveAccount::list(StateList& list) {
  for (results::CollectiveRow& row : rows_) {
    list.sum(row.calls);
    list.sum(row.bytes);
    list.sum(row.total);
    list.sum(row.waiting);
  }
}

void Device::list(StateList& list) {
  list_node(list, node_, *environment().network.tables);
  if (state_.streams.empty()) return;
  for (Stream& stream : state_.streams) list_stream(list, stream);
  list.same(state_.strands.size());
  for (Stream& strand : state_.strands) list_stream(list, strand);
  state_.mailboxes.list(list);
  list.same(state_.departures_awaited);
  list.sum(state_.messages_received);
  list.sum(state_.bytes_received);
  list.sum(state_.bytes_sent);
  for (const std::uint64_t raised : state_.events) list.same(raised);
  list.limit(state_.engine_free);
  for (Time& time : state_.time.by_activity) list.sum(time);
  list.sum(state_.flops);
  if (state_.engine) state_.engine->list(list);
  config_.shares_memory ? list_checked_memory(list, state_.memory) : list.memory(state_.memory);
}

void RingPath::list(StateList& list) {
  const auto last_message = [&](Time& clear_at, Time& last_at, std::uint32_t last) {
    list.limit(clear_at);
    list.same(last);
    if (last != none) list.time(last_at);
  };
  const auto links_busy = [&](std::vector<BusyPeriod>& busy) {
    list.same(busy.size());
    for (std::size_t i = 0; i < busy.size(); ++i) {
      const bool is_over = busy[i].end(tables_->rate(links_[i])) < list.now();
      list.same(is_over);
      if (is_over) continue;
      list.time(busy[i].start);
      list.same(busy[i].bytes);
    }
  };
  const auto bursts = [&](std::vector<Posted>& burst, std::vector<BusyPeriod>& before, std::vector<BusyPeriod>& busy,
                          std::vector<LinkCounts>& counts) {
    list.same(burst.size());
    for (Posted& one : burst) {
      list.time(one.at);
      list.same(one.bytes);
    }
    if (!burst.empty()) links_busy(before);
    links_busy(busy);
    list.same(counts.size());
    for (LinkCounts& one : counts) list_counts(list, one);
  };
  last_message(clear_at_, last_at_, last_);
  last_message(mark_.clear_at, mark_.last_at, mark_.last);
  list.same(has_bursts_);
  list.same(mark_.has_bursts);
  if (has_bursts_) bursts(burst_, before_, busy_, counts_);
  if (mark_.has_bursts) bursts(mark_.burst, mark_.before, mark_.busy, mark_.counts);
  if (last_ == none && !has_bursts_) links_busy(busy_);
  if (mark_.last == none) links_busy(begun_);
  list.same(passed_.size());
  for (const std::int64_t messages : passed_) list.same(messages);
  list.same(marked_.size());
  for (std::int64_t& messages : marked_) list.sum(messages);
}

void RingLaws::list(StateList& list) {
  for (const std::unique_ptr<Ring>& ring : rings_) {
    list.same(ring != nullptr && ring->is_usable);
    if (ring == nullptr || !ring->is_usable) continue;
    list.same(ring->is_reserved());
    if (ring->is_reserved()) {
      for (RingPath& path : ring->track->parts.paths) path.list(list);
    }
    for (const std::uint32_t begun : ring->begun) list.same(begun - ring->first);
    for (const std::uint32_t left : ring->left) list.same(left - ring->first);
    list.same(ring->runs.size());
    for (Run& run : ring->runs) {
      for (const std::uint32_t word : {run.index, std::uint32_t{run.is_law}, run.entered, run.left}) list.same(word);
      if (!run.is_law) continue;
      list.time(run.waited_until);
      for (RingEntry& entry : run.entries) {
        list_moment(list, entry.at);
        list.time(entry.joined);
      }
      for (const Run::Member& member : run.members) {
        list.same(member.stream);
      }
      list.same(run.ends.size());
      for (RingEnd& end : run.ends) {
        list_moment(list, end.at);
        list.time(end.clock);
        list.limit(end.left);
      }
    }
  }
}

}  // namespace tessera::sim
