#include "sim/execution/operator_line.hpp"

#include <algorithm>

namespace tessera::sim {

void OperatorLine::begin_next(Time now, MemoryServer& memory, CostTable& costs) {
  if (state_.under_way || state_.jobs.empty()) return;
  const ComputeJob& job = state_.jobs.front();
  state_.under_way = true;
  if (state_.ended == 0) state_.job_began = now;
  state_.ends = now;
  state_.moving = false;
  if (job.count == 0) return;
  const OperatorWork& work = costs.work(job.op);
  state_.ends = time_after(now, work.computing);
  state_.moving = work.bytes > 0;
  if (state_.moving) {
    memory.add(now, {MemoryUser::Kind::operators, 0}, work.bytes);
  } else {
    state_.ends = time_after(state_.ends, work.launch);
  }
}

void OperatorLine::moved(Time at, CostTable& costs) {
  state_.moving = false;
  state_.ends = time_after(std::max(state_.ends, at), costs.work(job().op).launch);
}

std::optional<Time> OperatorLine::over() const {
  if (!state_.under_way || state_.moving) return std::nullopt;
  return state_.ends;
}

std::optional<ComputeDone> OperatorLine::end() {
  state_.under_way = false;
  if (++state_.ended < job().count) return std::nullopt;
  state_.ended = 0;
  return ComputeDone{state_.jobs.pop(), state_.job_began, state_.ends};
}

namespace {

/// Operators one after another while nobody else uses the memory.
struct Alone {
  Time now = 0;     ///< the last one is over
  BusyPeriod busy;  ///< of the memory
  const Rate& rate;

  void run(const OperatorWork& work) {
    Time moved = now;
    if (work.bytes > 0) {
      busy = busy.end(rate) < now ? BusyPeriod{now, 0} : with_room(busy, rate);
      busy.bytes += work.bytes;
      moved = busy.end(rate);
    }
    now = time_after(std::max(time_after(now, work.computing), moved), work.launch);
  }
  void run(const OperatorWork& work, std::int64_t times) {
    for (; times > 0; --times) {
      const Time began = now;
      run(work);
      if (work.bytes > 0 && (busy.start != began || busy.end(rate) >= now)) continue;
      return static_cast<void>(now = time_after(now, repeated(times - 1, now - began)));  // each finds it idle
    }
  }
};

}  // namespace

Time OperatorLine::all_over(const MemoryServer& memory, CostTable& costs) const {
  Alone alone{state_.ends, memory.busy_behind_all(), memory.rate()};
  if (state_.moving) {
    alone.now = time_after(std::max(state_.ends, alone.busy.end(memory.rate())), costs.work(job().op).launch);
  }
  std::int64_t ended = state_.ended + (state_.under_way ? 1 : 0);
  for (std::size_t i = 0; i < state_.jobs.size(); ++i, ended = 0) {
    const ComputeJob& one = state_.jobs[i];
    if (one.count > 0) alone.run(costs.work(one.op), one.count - ended);
  }
  return alone.now;
}

void OperatorLine::skip(Time now, CostTable& costs) {
  const ComputeJob& one = job();
  const OperatorWork& work = costs.work(one.op);
  if (state_.moving || state_.ends > now || work.bytes > 0 || work.computing + work.launch == 0) return;
  const std::int64_t left = std::int64_t{one.count} - state_.ended - 2;
  const std::int64_t over = std::min(left, (now - state_.ends) / (work.computing + work.launch));
  if (over <= 0) return;
  state_.ended += static_cast<std::uint32_t>(over);
  state_.ends += over * (work.computing + work.launch);
}

}  // namespace tessera::sim
