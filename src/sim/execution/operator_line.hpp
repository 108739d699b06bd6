// A device's operators one after another, where what they read and write goes through its memory's one server.
#pragma once

#include <cstdint>
#include <optional>

#include "sim/execution/compute_engine.hpp"
#include "sim/memory/memory_server.hpp"

namespace tessera::sim {

/// An operator computes while its bytes are moved; when both are done the launch of the next one follows.
class OperatorLine {
 public:
  /// Behind all that have been queued.
  void queue(const ComputeJob& job) { state_.jobs.push(job); }
  [[nodiscard]] bool is_busy() const { return !state_.jobs.empty(); }
  /// Whose operator is under way, or the next one.
  [[nodiscard]] const ComputeJob& job() const { return state_.jobs.front(); }
  /// Whether the operator under way moves bytes.
  [[nodiscard]] bool moves() const { return state_.moving; }

  /// The next operator begins, unless one is under way or none waits.
  void begin_next(Time now, MemoryServer& memory, CostTable& costs);
  /// Its bytes have been moved.
  void moved(Time at, CostTable& costs);
  /// When the operator under way is over; none: its bytes have not been moved, or none is under way.
  [[nodiscard]] std::optional<Time> over() const;
  /// It is over. A job of which it was the last operator is done.
  [[nodiscard]] std::optional<ComputeDone> end();

  /// When all are over if nobody else uses the memory, which serves nobody but the operator under way.
  [[nodiscard]] Time all_over(const MemoryServer& memory, CostTable& costs) const;
  /// Of a job that moves no bytes, ends the operators up to `now` at once, but for its last two.
  void skip(Time now, CostTable& costs);

  /// All that changes.
  struct State {
    RingBuffer<ComputeJob> jobs;
    bool under_way = false;   ///< an operator of the first one is
    bool moving = false;      ///< and moves its bytes
    std::uint32_t ended = 0;  ///< operators of that job that are over
    Time job_began = 0;
    Time ends = 0;  ///< when it has computed, or is over if its bytes have been moved
  };
  [[nodiscard]] State& state() { return state_; }
  [[nodiscard]] const State& state() const { return state_; }

 private:
  State state_;
};

}  // namespace tessera::sim
