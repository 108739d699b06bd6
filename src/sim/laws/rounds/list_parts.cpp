// What of the parts' state is a time, a sum, or has to be the same (state_list.hpp). All members of a struct are bound:
// one that is added does not compile until somebody has decided about it here. Not listed are names of messages (but
// for what says their ways, where a program binds any), tokens and numbers of batches, which only tell things apart,
// and hints.
#include <algorithm>

#include "sim/execution/device.hpp"
#include "sim/laws/rings/ring.hpp"
#include "sim/laws/rounds/list_parts.hpp"
#include "sim/laws/rounds/list_record.hpp"

namespace tessera::sim {
namespace {

void list_moment(StateList& list, Moment& moment) {
  auto& [time, source] = moment;
  list.time(time);
  list.same(source);
}

void list_collective(StateList& list, CollectiveRun& run) {
  auto& [phase, wait_sends, index, group, rank, strand, lowering, step, steps, reduce, pause, waited_until, strands,
         strands_left, ended] = run;
  list.same(phase);
  if (phase == CollectiveRun::Phase::none) return;  // the rest is of the last one
  for (const std::uint32_t word : {index, group, rank, strand, step, steps, strands, strands_left}) list.same(word);
  list.same(wait_sends);
  list.same(reduce);
  list.same(pause);
  list.time(waited_until);
  list.time(ended);
}

void list_stream(StateList& list, Stream& stream, program::DeviceId device) {
  auto& [index, parent, state, token, wake, clock, since, missing, batch, left, batch_left, in_hint, out_hint, launched,
         issued, host_waits, is_issued, collective, frames, waits] = stream;
  list.same(parent);
  list.same(state);
  list.limit(left);
  list.limit(batch_left);
  if (parent != no_stream && state == StreamState::done) return;  // a strand that is not in use
  list.limit(wake);
  list.time(clock);
  list.time(since);
  list.same(missing);
  list.same(launched);
  list.same(host_waits);
  list.same(is_issued);
  if (!host_waits) list.time(issued);
  list.named({StateList::batch, device, index, batch, 0, 0});
  list_collective(list, collective);
  list.position(frames);
  list.same(waits.size());
  for (WaitSpan& span : waits) {
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

void list_mailboxes(StateList& list, Mailboxes& mailboxes) {
  auto& [boxes, early, unused] = mailboxes.state();
  list.same(boxes.size());
  for (const Mailboxes::Box& box : boxes) {
    const auto& [key, missing, stream, first, last] = box;
    list.same(key);
    list.same(missing);
    if (missing > 0) list.same(stream);
    std::size_t messages = 0;
    for (std::uint32_t place = first; place != Mailboxes::none; place = early[place].next, ++messages)
      list.time(early[place].waited_until);
    list.same(messages);
  }
}

void list_engine(StateList& list, ComputeEngine& engine) {
  auto& [jobs, busy, taken, began, since, left, behind_alone, behind_at_rate] =
      engine.state();  // the last two: of jobs
  list.same(jobs.size());
  list.same(taken.cores);
  list.same(taken.memory_rate);
  list.same(busy);
  if (!busy) return;
  list.time(began);
  list.time(since);
  list.same(left);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const auto& [job, alone, at_rate] = jobs[i];
    const auto& [stream, op, count, block, instruction, micro_batch] = job;  // the last one: RecordedRound
    for (const std::uint32_t word : {stream, op, count, block, instruction}) list.same(word);
    list.same(alone);
    list.same(at_rate);
  }
}

std::vector<ComputeJob*> jobs_in_line(std::optional<ComputeEngine>& engine, SharedMemory* shared) {
  std::vector<ComputeJob*> jobs;
  for (std::size_t i = 0; engine && i < engine->state().jobs.size(); ++i) jobs.push_back(&engine->state().jobs[i].job);
  if (shared == nullptr) return jobs;
  auto& line = shared->operators().state().jobs;
  for (std::size_t i = 0; i < line.size(); ++i) jobs.push_back(&line[i]);
  return jobs;
}

void list_collectives(StateList& list, CollectiveAccount& account) {
  list.same(account.sums().size());
  for (results::CollectiveRow& row : account.sums()) {
    list.sum(row.calls);
    list.sum(row.bytes);
    list.sum(row.total);
    list.sum(row.waiting);
  }
}

}  // namespace

void list_device(StateList& list, Device& device, const NetworkTables& tables) {
  auto [config, whole, node, shared, record, program] = device.parts();
  list_node(list, node, tables);
  if (whole.streams.empty()) return;
  // No kernels: the law refuses them.
  auto& [streams, mailboxes, outboxes, departures_awaited, messages_received, bytes_received, bytes_sent, strands,
         events, engine_free, time, flops, engine, memory_call, memory, collectives, kernels_begun] = whole;
  RecordedRound recorded(list, program, record, streams);
  for (Stream& stream : streams) list_stream(list, stream, config.self);
  list.same(strands.size());
  for (Stream& strand : strands) list_stream(list, strand, config.self);
  list_mailboxes(list, mailboxes);
  list.same(departures_awaited);
  list.sum(messages_received);
  list.sum(bytes_received);
  list.sum(bytes_sent);
  for (const std::uint64_t raised : events) list.same(raised);
  list.limit(engine_free);
  for (Time& one : time.by_activity) list.sum(one);
  list.sum(flops);
  if (engine) list_engine(list, *engine);
  if (shared != nullptr) {
    list_shared_memory(list, *shared, config.self);
    if (memory_call.at != never) list.limit(memory_call.at);
  }
  list_collectives(list, collectives);
  recorded.list(list, jobs_in_line(engine, shared));
  config.shares_memory ? list_checked_memory(list, memory) : list.memory(memory);
}

// Nothing is put aside (kept_, last_delivery_) unless the ring is being broken off.
void RingWay::list(StateList& list) {
  auto& [clear_at, last_at, last, is_among, is_in_burst, passed, marked, passed_bursts, marked_bursts, mark,
         last_delivery, end, apart] = state_;
  auto& [mark_clear_at, mark_last_at, mark_last] = mark;
  const auto last_message = [&](Time& clear, Time& at, std::uint32_t number) {
    list.limit(clear);
    list.same(number);
    if (number != none) list.time(at);
  };
  // They may be over by now, but not when members entered that are walked from here.
  const auto links_busy = [&](std::vector<BusyPeriod>& busy) {
    list.same(busy.size());
    for (BusyPeriod& one : busy) list_busy(list, one);
  };
  const auto list_bursts = [&](Bursts& bursts) {
    list.same(bursts.is_empty());
    if (bursts.is_empty()) return;
    auto& [burst, guests, before, busy, counts, known] = bursts;  // guests: below
    list.same(burst.size());
    list.same(known);
    std::vector<PostedMessage> posted(burst.all().begin(), burst.all().end());
    for (auto& [at, bytes] : posted) {
      list.time(at);
      list.same(bytes);
    }
    if (!std::ranges::equal(posted, burst.all())) burst = PostedLog(std::move(posted));
    if (!burst.empty()) links_busy(before);
    if (known == none) links_busy(busy);
    list.same(counts.size());
    for (LinkCounts& one : counts) list_counts(list, one);
  };
  last_message(clear_at, last_at, last);
  last_message(mark_clear_at, mark_last_at, mark_last);
  list.same(apart.is_made());
  if (apart.is_made()) {
    auto& [now, marked_now, begun, short_ends, own_left, kept, guests_since, next_guest] = apart.make();
    list.limit(own_left);
    list_bursts(now);
    list_bursts(marked_now);
    if (last == none && now.is_empty()) links_busy(now.busy);
    if (mark_last == none) links_busy(begun);
    for (std::vector<Guest>* guests : {&guests_since, &now.guests, &marked_now.guests}) {
      list.same(guests->size());
      for (Guest& one : *guests) {
        list_moment(list, one.at);
        list_segment(list, one.segment, one.at.source);
      }
    }
    list.same(next_guest);
  }
  list.same(passed.size());
  for (const std::int64_t messages : passed) list.same(messages);
  list.same(marked.size());
  for (std::int64_t& messages : marked) list.sum(messages);
  list.same(passed_bursts.size());
  for (const auto& [number, times] : passed_bursts) {
    list.same(number);
    list.same(times);
  }
  list.same(marked_bursts.size());
  for (auto& [number, times] : marked_bursts) {
    list.same(number);
    list.sum(times);
  }
}

void RingLaws::list_run(StateList& list, Run& run) {
  auto& [index, is_law, entered, left, work, waited_until, entries, members, senders, ends, guests, waves, posts,
         received] = run;
  for (const std::uint32_t word : {index, std::uint32_t{is_law}, entered, left, guests}) list.same(word);
  if (!is_law) return;
  list.time(waited_until);
  for (auto& [at, joined] : entries) {
    list_moment(list, at);
    list.time(joined);
  }
  for (const Run::Member& member : members) list.same(member.stream);
  list.same(ends.size());
  for (auto& [at, clock, left_at] : ends) {
    list_moment(list, at);
    list.time(clock);
    list.limit(left_at);
  }
}

void RingLaws::list(StateList& list, const std::function<bool(program::DeviceId)>& is_here) {
  for (const std::unique_ptr<Ring>& one : rings_) {
    if (one != nullptr && !is_here(lowerings_->program().groups[one->group].members.front())) continue;
    list.same(one != nullptr && one->is_usable);
    if (one == nullptr || !one->is_usable) continue;
    auto& [group, size, places, is_part, is_usable, track, met_on, works, latest, begun, left, runs, first,
           broken_off] = *one;
    list.same(one->is_reserved());
    if (one->is_reserved()) {
      const auto has_track = [track](const std::unique_ptr<Work>& work) { return work->track == track; };
      list.same(std::ranges::find_if(works, has_track) - works.begin());
      for (std::size_t way = 0; way < track->is_reserved.size(); ++way) {
        list.same(track->is_reserved[way]);
        if (track->is_reserved[way]) track->parts.ways[way].list(list);
      }
    }
    for (const std::uint32_t number : begun) list.same(number - first);
    for (const std::uint32_t number : left) list.same(number - first);
    list.same(runs.size());
    for (Run& run : runs) list_run(list, run);
  }
}

}  // namespace tessera::sim
