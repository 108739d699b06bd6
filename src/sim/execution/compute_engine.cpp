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
  const Time at_rate = taken_ == Taken{} ? alone : time_beside(job, costs, taken_);
  behind_alone_ = time_after(behind_alone_, alone);
  behind_at_rate_ = time_after(behind_at_rate_, at_rate);
  jobs_.push({job, alone, at_rate});
}

bool ComputeEngine::begin_next(Time now) {
  if (busy_ || jobs_.empty()) return false;
  busy_ = true;
  began_ = since_ = now;
  left_ = jobs_.front().alone;
  behind_alone_ -= jobs_.front().alone;
  behind_at_rate_ -= jobs_.front().at_rate;
  return true;
}

Time ComputeEngine::ends() const {
  const Queued& first = jobs_.front();
  if (first.alone == 0) return since_;
  if (left_ == first.alone) return time_after(since_, first.at_rate);
  const Int128 rest = (static_cast<Int128>(left_) * first.at_rate + first.alone - 1) / first.alone;
  if (rest > latest) throw_beyond_time();
  return time_after(since_, static_cast<Time>(rest));
}

void ComputeEngine::end() {
  static_cast<void>(jobs_.pop());
  busy_ = false;
}

void ComputeEngine::take(const Taken& more, CostTable& costs, Time now) {
  change({taken_.cores + more.cores, taken_.memory_rate + more.memory_rate}, costs, now);
}

void ComputeEngine::give_back(const Taken& less, CostTable& costs, Time now) {
  change({taken_.cores - less.cores, taken_.memory_rate - less.memory_rate}, costs, now);
}

void ComputeEngine::change(const Taken& taken, CostTable& costs, Time now) {
  taken_ = taken;
  if (!busy_) return;
  const Queued& first = jobs_.front();
  if (first.at_rate > 0) {
    const auto done = static_cast<Time>(static_cast<Int128>(now - since_) * first.alone / first.at_rate);
    left_ = std::max<Time>(0, left_ - done);
  }
  since_ = now;
  behind_at_rate_ = 0;
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    jobs_[i].at_rate = time_beside(jobs_[i].job, costs, taken_);
    if (i > 0) behind_at_rate_ = time_after(behind_at_rate_, jobs_[i].at_rate);
  }
}

}  // namespace tessera::sim
