// A device's compute engine beside collectives that take cores and memory bandwidth from it: what is under way slows
// down while they run.
#pragma once

#include <cstdint>
#include <deque>

#include "sim/execution/cost_table.hpp"
#include "tessera/base/integers.hpp"
#include "tessera/base/time.hpp"

namespace tessera::sim {

/// Work of one stream: an operator, so many times one after another.
struct ComputeJob {
  std::uint32_t stream = 0;
  program::OperatorId op = 0;
  std::uint32_t count = 1;
};

/// Does the jobs of all streams of a device in the order in which they are queued. In integers: of the job under way,
/// the part that is left is kept, as the time that it would take alone.
class ComputeEngine {
 public:
  void queue(const ComputeJob& job) { jobs_.push_back(job); }
  /// The first job begins, unless one is under way or none waits; whether it does.
  [[nodiscard]] bool begin_next(CostTable& costs, Time now);
  [[nodiscard]] bool is_busy() const { return busy_; }
  /// The job under way.
  [[nodiscard]] const ComputeJob& job() const { return jobs_.front(); }
  /// When it ends if what is taken stays as it is.
  [[nodiscard]] Time ends() const;
  /// It does not end before, whatever becomes of the collectives.
  [[nodiscard]] Time earliest_end() const { return saturating_add(since_, left_); }
  /// It is done.
  void end();

  /// A collective begins on this device, or ends.
  void take(const Taken& more, CostTable& costs, Time now);
  void give_back(const Taken& less, CostTable& costs, Time now);

 private:
  void change(const Taken& taken, CostTable& costs, Time now);

  std::deque<ComputeJob> jobs_;  // the first one is under way, if busy_
  bool busy_ = false;
  Taken taken_;
  Time since_ = 0;    // the rate has been the same since then
  Time left_ = 0;     // of the job, from then on
  Time alone_ = 0;    // the job's time alone
  Time at_rate_ = 0;  // and at the present rate
};

}  // namespace tessera::sim
