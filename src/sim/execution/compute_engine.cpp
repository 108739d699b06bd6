#include "sim/execution/compute_engine.hpp"

#include <algorithm>

namespace tessera::sim {

bool ComputeEngine::begin_next(CostTable& costs, Time now) {
  if (busy_ || jobs_.empty()) return false;
  busy_ = true;
  since_ = now;
  alone_ = left_ = repeated(job().count, costs.of(job().op));
  at_rate_ = repeated(job().count, costs.beside(job().op, taken_));
  return true;
}

Time ComputeEngine::ends() const {
  if (alone_ == 0) return since_;
  const Int128 rest = (static_cast<Int128>(left_) * at_rate_ + alone_ - 1) / alone_;
  if (rest > latest) throw_beyond_time();
  return time_after(since_, static_cast<Time>(rest));
}

void ComputeEngine::end() {
  jobs_.pop_front();
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
  if (at_rate_ > 0) {
    const auto done = static_cast<Time>(static_cast<Int128>(now - since_) * alone_ / at_rate_);
    left_ = std::max<Time>(0, left_ - done);
  }
  since_ = now;
  at_rate_ = repeated(job().count, costs.beside(job().op, taken_));
}

}  // namespace tessera::sim
