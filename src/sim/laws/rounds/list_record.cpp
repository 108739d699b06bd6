// How the timeline of a device goes on where rounds are left out: the intervals of the last round are repeated, moved
// on in time, and so are the numbers of messages and micro-batches in them.
#include <map>
#include <memory>
#include <utility>

#include "sim/laws/rounds/list_record.hpp"

namespace tessera::sim {
namespace {

/// How many micro-batches of a pass a stream has called, but for those that are left of the pass that it is in: the
/// numbers that its intervals have are further on by as much as this is.
std::int64_t batches(const program::Program& program, const Stream& stream, std::uint32_t pass, std::int64_t called) {
  for (std::size_t depth = stream.frames.size(); depth-- > 1;)
    if (pass_of(program, stream.frames, depth) == pass) return called - stream.frames[depth].repeats;
  return called;
}

void list_lines(StateList& list, std::map<DeviceRecord::Line, std::int64_t>& lines) {
  list.same(lines.size());
  for (auto& [line, messages] : lines) {
    list.same(line.first);
    list.same(line.second);
    list.sum(messages);
  }
}

}  // namespace

RecordedRound::RecordedRound(const StateList& list, const program::Program& program, OwnRecord& record,
                             const std::vector<Stream>& streams)
    : program_(program), record_(record), streams_(streams) {
  if (list.times() == 0 || !record.is_made()) return;
  sent_ = (*record).sent;
  taken_ = (*record).taken;
  batches_ = batches_now();
}

RecordedRound::Batches RecordedRound::batches_now() const {
  Batches now = (*record_).passes;
  for (auto& [key, called] : now) called = batches(program_, streams_[key.first], key.second, called);
  return now;
}

// Memory, kernels and marks: the law refuses programs and runs that write them down.
void RecordedRound::list(StateList& list, const std::vector<ComputeJob*>& jobs) {
  list.same(record_.is_made());
  if (!record_.is_made()) return;
  auto& [intervals, memory_changes, kernel_rows, marks, phase_ends, sent, taken, passes] = *record_;
  list.same(phase_ends.size());  // outside loops, so that none comes in a round
  list.same(intervals.size());
  std::vector<std::int64_t> sizes;
  for (results::StreamIntervals& stream : intervals) list.sum(sizes.emplace_back(stream.size()));
  list_lines(list, sent);
  list_lines(list, taken);
  list.same(passes.size());
  for (auto& [key, called] : passes) {
    list.same(key.first);
    list.same(key.second);
    list.sum(called);
  }
  list_batches(list, jobs);
  if (list.times() != 0) repeat(list, sizes, jobs);
}

// A job has the number that its stream had when it put the job in line, and is written down when it is over. Its stream
// may be in the first round of another micro-batch by then: the rounds that follow have jobs of that one. So moments
// are alike only where the stream is ahead of each job by as many micro-batches.
void RecordedRound::list_batches(StateList& list, const std::vector<ComputeJob*>& jobs) {
  for (const ComputeJob* job : jobs) {
    const auto& [number, pass] = job->micro_batch;
    list.same(pass);
    if (pass == 0) continue;
    const std::pair key{job->stream, std::uint32_t{pass}};
    list.same(batches(program_, streams_[key.first], pass, (*record_).passes.at(key)) - number);
  }
}

void RecordedRound::repeat(const StateList& list, const std::vector<std::int64_t>& sizes,
                           const std::vector<ComputeJob*>& jobs) {
  const std::int64_t times = list.times();
  results::RoundShift all;
  all.time = list.round();
  add_lines(all, times, sent_, (*record_).sent, results::MessageEnd::sent);
  add_lines(all, times, taken_, (*record_).taken, results::MessageEnd::taken);
  const Batches now = batches_now();
  for (std::uint32_t stream = 0; stream < sizes.size(); ++stream) {
    results::StreamIntervals& intervals = (*record_).intervals[stream];
    auto shift = std::make_shared<results::RoundShift>(all);
    for (const auto& [key, before] : batches_)
      if (key.first == stream && now.at(key) != before)
        shift->passes.push_back({static_cast<std::uint16_t>(key.second), (now.at(key) - before) / times});
    intervals.repeat((sizes[stream] - intervals.size()) / times, times, std::move(shift));
  }
  for (ComputeJob* job : jobs) {
    const std::pair key{job->stream, std::uint32_t{job->micro_batch.pass}};
    if (key.second > 0) job->micro_batch.number += static_cast<std::int32_t>(now.at(key) - batches_.at(key));
  }
}

void RecordedRound::add_lines(results::RoundShift& shift, std::int64_t times, const Lines& before, const Lines& now,
                              results::MessageEnd end) {
  for (const auto& [line, messages] : now) {
    const std::int64_t more = (messages - before.at(line)) / times;
    if (more != 0)
      shift.lines.push_back({static_cast<std::int32_t>(line.first), static_cast<std::int32_t>(line.second), end, more});
  }
}

}  // namespace tessera::sim
