#include "sim/execution/compute_engine.hpp"

#include <algorithm>

namespace tessera::sim {
namespace {

Time time_beside(const ComputeJob& job, CostTable& costs, const Taken& taken) {
  return job.count == 0 ? 0 : repeated(job.count, costs.beside(job.op, taken));
}

}  // namespace

void ComputeEngine::queue(const ComputeJob& job, CostTable& costs) {
  const Time alone = job.count == 0 ? 0 : repeated(job.count, costs.of(job.op));
  const Time at_rate = state_.taken == Taken{} ? alone : time_beside(job, costs, state_.taken);
  state_.behind_alone = time_after(state_.behind_alone, alone);
  state_.behind_at_rate = time_after(state_.behind_at_rate, at_rate);
  state_.jobs.push({job, alone, at_rate});
}

bool ComputeEngine::begin_next(Time now) {
  if (state_.busy || state_.jobs.empty()) return false;
  state_.busy = true;
  state_.began = state_.since = now;
  state_.left = state_.jobs.front().alone;
  state_.behind_alone -= state_.jobs.front().alone;
  state_.behind_at_rate -= state_.jobs.front().at_rate;
  return true;
}

Time ComputeEngine::ends() const {
  const Queued& first = state_.jobs.front();
  if (first.alone == 0) return state_.since;
  if (state_.left == first.alone) return time_after(state_.since, first.at_rate);
  const Int128 rest = (static_cast<Int128>(state_.left) * first.at_rate + first.alone - 1) / first.alone;
  if (rest > latest) throw_beyond_time();
  return time_after(state_.since, static_cast<Time>(rest));
}

void ComputeEngine::end() {
  static_cast<void>(state_.jobs.pop());
  state_.busy = false;
}

void ComputeEngine::take(const Taken& more, CostTable& costs, Time now) {
  change({state_.taken.cores + more.cores, state_.taken.memory_rate + more.memory_rate}, costs, now);
}

void ComputeEngine::give_back(const Taken& less, CostTable& costs, Time now) {
  change({state_.taken.cores - less.cores, state_.taken.memory_rate - less.memory_rate}, costs, now);
}

void ComputeEngine::change(const Taken& taken, CostTable& costs, Time now) {
  state_.taken = taken;
  if (!state_.busy) return;
  const Queued& first = state_.jobs.front();
  if (first.at_rate > 0) {
    const auto done = static_cast<Time>(static_cast<Int128>(now - state_.since) * first.alone / first.at_rate);
    state_.left = std::max<Time>(0, state_.left - done);
  }
  state_.since = now;
  state_.behind_at_rate = 0;
  for (std::size_t i = 0; i < state_.jobs.size(); ++i) {
    state_.jobs[i].at_rate = time_beside(state_.jobs[i].job, costs, state_.taken);
    if (i > 0) state_.behind_at_rate = time_after(state_.behind_at_rate, state_.jobs[i].at_rate);
  }
}

}  // namespace tessera::sim
