#include "prediction.hpp"

#include <algorithm>

#include "contention.hpp"
#include "joints.hpp"

namespace tessera::strategy::watos {
namespace {

/// When each stage is done with each micro-batch, forward and backward.
class Passes {
 public:
  Passes(const Problem& problem, const Solution& solution, const std::vector<PairedBytes>& loans,
         std::int64_t micro_batches)
      : count_(problem.count()), micro_batches_(static_cast<std::size_t>(micro_batches)), hop_(problem.hop) {
    const std::vector<Time> waiting = held_up(problem, solution, loans);
    for (std::size_t stage = 0; stage < count_; ++stage) {
      Time forward = 0;
      for (std::uint32_t replica = 0; replica < problem.replicas; ++replica)
        forward = std::max(forward,
                           problem.stages[stage].forward[problem.places[solution.place(problem, stage, replica)].pace]);
      forward_.push_back(forward + waiting[stage] / 2);  // what is lent leaves in one pass, and is back in another
      backward_.push_back(stage_time(problem, solution, stage) + waiting[stage] - forward_.back());
    }
    done_forward_.assign(count_ * micro_batches_, never);
    done_backward_.assign(count_ * micro_batches_, never);
  }

  /// In waves: of every stage as many passes as its neighbours allow, until all are done.
  Time all() {
    std::vector<std::size_t> next_forward(count_), next_backward(count_);
    std::vector<Time> clock(count_);
    for (std::size_t left = 2 * count_ * micro_batches_; left > 0;) {
      for (std::size_t stage = 0; stage < count_; ++stage) {
        while (true) {
          const std::size_t warm_up = std::min(count_ - stage, micro_batches_);
          const bool is_forward =
              next_forward[stage] < micro_batches_ && next_forward[stage] < next_backward[stage] + warm_up;
          if (!is_forward && next_backward[stage] == micro_batches_) break;
          const std::size_t micro_batch = is_forward ? next_forward[stage] : next_backward[stage];
          const Time arrived = is_forward ? from_before(stage, micro_batch) : from_behind(stage, micro_batch);
          if (arrived == never) break;
          clock[stage] = std::max(clock[stage], arrived) + (is_forward ? forward_[stage] : backward_[stage]);
          (is_forward ? done_forward_ : done_backward_)[stage * micro_batches_ + micro_batch] = clock[stage];
          ++(is_forward ? next_forward : next_backward)[stage];
          --left;
        }
      }
    }
    return *std::ranges::max_element(clock);
  }

  /// Behind all(): ps from one micro-batch to the next in the middle of the pipeline's run, as the first stage is done
  /// with them. Waiting for messages stretches it beyond the slowest stage's own time.
  [[nodiscard]] Time pace() const {
    const std::size_t from = micro_batches_ / 3, to = 2 * micro_batches_ / 3;
    return to > from ? (done_backward_[to] - done_backward_[from]) / static_cast<Time>(to - from) : 0;
  }

 private:
  [[nodiscard]] Time from_before(std::size_t stage, std::size_t micro_batch) const {
    if (stage == 0) return 0;
    return saturating_add(done_forward_[(stage - 1) * micro_batches_ + micro_batch], hop_);
  }
  [[nodiscard]] Time from_behind(std::size_t stage, std::size_t micro_batch) const {
    if (stage + 1 == count_) return 0;
    return saturating_add(done_backward_[(stage + 1) * micro_batches_ + micro_batch], hop_);
  }

  std::size_t count_, micro_batches_;
  Time hop_;
  std::vector<Time> forward_, backward_, done_forward_, done_backward_;
};

}  // namespace

std::vector<Time> stage_times(const Problem& problem, const Solution& solution, const std::vector<PairedBytes>& loans) {
  std::vector<Time> times = held_up(problem, solution, loans);
  for (std::size_t stage = 0; stage < times.size(); ++stage) times[stage] += stage_time(problem, solution, stage);
  return times;
}

Time slowest(const Problem& problem, const Solution& solution, const std::vector<PairedBytes>& loans) {
  const std::vector<Time> times = stage_times(problem, solution, loans);
  return *std::ranges::max_element(times);
}

Time predicted(const Problem& problem, const Solution& solution) {
  return predicted(problem, solution, lend(problem, solution).loans);
}

Time predicted(const Problem& problem, const Solution& solution, const std::vector<PairedBytes>& loans) {
  const auto depth = static_cast<std::int64_t>(problem.count());
  const std::int64_t some = std::min(problem.micro_batches, 3 * depth);
  Time update = 0;
  for (const std::uint16_t place : solution.places)
    update = std::max(update, problem.update[problem.places[place].pace]);
  Passes passes(problem, solution, loans, some);
  const Time first = passes.all();
  return first + repeated(problem.micro_batches - some, passes.pace()) + update + sums_of(problem, solution);
}

}  // namespace tessera::strategy::watos
