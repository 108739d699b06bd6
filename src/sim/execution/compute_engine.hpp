// A device's compute engine beside collectives that take cores and memory bandwidth from it: what is under way slows
// down while they run.
#pragma once

#include <cstdint>

#include "sim/execution/cost_table.hpp"
#include "sim/ring_buffer.hpp"
#include "tessera/base/integers.hpp"
#include "tessera/base/time.hpp"

namespace tessera::sim {

/// Whose pass something is part of, as results::Interval says; only timelines show it.
struct MicroBatch {
  std::int32_t number = -1;
  std::uint16_t pass = 0;
};

/// Work of one stream: an instruction that computes, or what takes no time behind one.
struct ComputeJob {
  std::uint32_t stream = 0;
  program::OperatorId op = 0;
  std::uint32_t count = 1;  ///< of the operator, one after another; 0: nothing is computed
  program::BlockId block = 0;
  std::uint32_t instruction = 0;  ///< of the block
  MicroBatch micro_batch = {};
};

/// A job that is over.
struct ComputeDone {
  ComputeJob job;
  Time begin = 0, end = 0;
};

/// Does the jobs of all streams of a device in the order in which they are queued. In integers: of the job under way,
/// the part that is left is kept, as the time that it would take alone.
class ComputeEngine {
 public:
  void queue(const ComputeJob& job, CostTable& costs);
  /// The first job begins, unless one is under way or none waits; whether it does.
  [[nodiscard]] bool begin_next(Time now);
  [[nodiscard]] bool is_busy() const { return state_.busy; }
  /// The job under way.
  [[nodiscard]] const ComputeJob& job() const { return state_.jobs.front().job; }
  /// When it ends if what is taken stays as it is.
  [[nodiscard]] Time ends() const;
  /// It does not end before, whatever becomes of the collectives.
  [[nodiscard]] Time earliest_end() const { return saturating_add(state_.since, state_.left); }
  /// The same of all jobs.
  [[nodiscard]] Time all_end() const { return time_after(ends(), state_.behind_at_rate); }
  [[nodiscard]] Time earliest_end_of_all() const { return saturating_add(earliest_end(), state_.behind_alone); }
  /// It is done.
  void end();
  /// Ends the jobs that are over at `now`, each of which the next one has followed: act(done) in their order. Before
  /// take() and give_back() where jobs follow without events.
  template <class Act>
  void end_until(Time now, Act&& act) {
    while (state_.busy) {
      const Time at = ends();
      if (at > now) return;
      const ComputeDone done{job(), state_.began, at};
      end();
      static_cast<void>(begin_next(at));
      act(done);
    }
  }

  /// A collective begins on this device, or ends.
  void take(const Taken& more, CostTable& costs, Time now);
  void give_back(const Taken& less, CostTable& costs, Time now);

  struct Queued {
    ComputeJob job;
    Time alone = 0, at_rate = 0;  ///< of all of it
  };
  /// All that changes.
  struct State {
    RingBuffer<Queued> jobs;  ///< the first one is under way, if busy
    bool busy = false;
    Taken taken;
    Time began = 0;                             ///< the job
    Time since = 0;                             ///< the rate has been the same since then
    Time left = 0;                              ///< of the job's time alone, from then on
    Time behind_alone = 0, behind_at_rate = 0;  ///< the same of the jobs that wait
  };
  [[nodiscard]] State& state() { return state_; }

 private:
  void change(const Taken& taken, CostTable& costs, Time now);

  State state_;
};

}  // namespace tessera::sim
