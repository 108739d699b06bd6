// The predicted iteration: by the pipeline's formula, and WATOS, figure 8.
#include "strategy/watos/prediction.hpp"

#include <catch2/catch.hpp>

#include "watos_problems.hpp"

using namespace tessera;
using namespace tessera::strategy::watos;

namespace {

/// Stages with forward and backward passes of these times.
Time of_pipeline(const std::vector<std::pair<Time, Time>>& passes, std::int64_t micro_batches, Time hop = 0) {
  std::vector<StageProblem> stages;
  for (const auto& [forward, backward] : passes) stages.push_back(stage_over(-10, forward, forward + backward));
  const auto columns = static_cast<int>(stages.size());
  Problem problem = problem_of(std::move(stages), columns, 1);
  problem.micro_batches = micro_batches;
  problem.hop = hop;
  return predicted(problem, in_order(problem));
}

}  // namespace

TEST_CASE("watos: equal stages take (p - 1 + n) x (F + B)") {
  for (const std::int64_t depth : {1, 2, 3, 4, 8}) {
    const std::vector<std::pair<Time, Time>> equal(static_cast<std::size_t>(depth), {7, 13});
    // Fewer micro-batches than stages, as many, more, and more than what is looked at one by one.
    for (const std::int64_t micro_batches : {1, 2, 3, 5, 12, 24, 25, 100})
      CHECK(of_pipeline(equal, micro_batches) == (depth - 1 + micro_batches) * 20);
  }
}

TEST_CASE("watos: figure 8, three stages and five micro-batches, of which none to all are run again") {
  // F = 1, B = 2, and 3 where a stage runs again. None: (3 - 1 + 5) x 3. All: (3 - 1 + 5) x 4.
  CHECK(of_pipeline({{1, 2}, {1, 2}, {1, 2}}, 5) == 21);
  CHECK(of_pipeline({{1, 3}, {1, 3}, {1, 3}}, 5) == 28);
  // The first stage alone: its first backward pass begins when those of the others are done, 1 + 1 + 1 + 2 + 2 = 7;
  // with three forward passes before it, it has waited for 4, and from then on it waits for nobody: 4 + 5 x 4.
  CHECK(of_pipeline({{1, 3}, {1, 2}, {1, 2}}, 5) == 24);
  // The first two: the first stage waits for 5, until 8; then once more for 1 ps, from 19 to 20, when its forward
  // passes are over and the second stage, which takes 4 ps a micro-batch, is not yet done with the fourth one: 6 + 5
  // x 4.
  CHECK(of_pipeline({{1, 3}, {1, 3}, {1, 2}}, 5) == 26);
}

TEST_CASE("watos: by hand, messages between stages, the update and what all stages do at the end") {
  // Two stages, one micro-batch: forward 1, hop 10, forward 1, backward 2, hop 10, backward 2.
  CHECK(of_pipeline({{1, 2}, {1, 2}}, 1, 10) == 26);
  // Two micro-batches: at the second stage F 11 to 12, B to 14, F to 15, B to 17; at the first one the second backward
  // pass has what it needs at 27.
  CHECK(of_pipeline({{1, 2}, {1, 2}}, 2, 10) == 29);
  Problem problem = problem_of({stage_over(-10), stage_over(-10)}, 3, 1);
  problem.places[2].pace = 1;
  for (StageProblem& stage : problem.stages) {
    stage.forward.push_back(5);
    stage.time.push_back({9});
  }
  problem.update = {100, 300};
  problem.shared = 1000;
  // One micro-batch at the first pace: 1 + 1 + 2 + 2 behind each other.
  CHECK(predicted(problem, in_order(problem)) == 6 + 100 + 1000);
  // The second stage at the slow place: 1 + 5 + 4 + 2, and the slowest update is the last one.
  Solution solution = in_order(problem);
  solution.places = {0, 2};
  CHECK(predicted(problem, solution) == 12 + 300 + 1000);
  // Of two replicas the slower one counts.
  problem.places.push_back(problem.places[1]);
  problem.replicas = 2;
  solution.places = {0, 1, 2, 3};
  CHECK(predicted(problem, solution) == 12 + 300 + 1000);
  CHECK(stage_time(problem, solution, 0) == 3);
  CHECK(slowest(problem, solution, {}) == 9);
}

TEST_CASE("watos: a pass that takes no time is done all the same") {
  // One micro-batch: 0 and 1 forward, 2 and 2 backward; and with nothing to do at all.
  CHECK(of_pipeline({{0, 2}, {1, 2}}, 1) == 5);
  CHECK(of_pipeline({{1, 2}, {1, 0}, {0, 0}}, 1) == 4);
  CHECK(of_pipeline({{0, 0}, {0, 0}}, 3) == 0);
}

TEST_CASE("watos: micro-batches beyond three times the depth follow at the pace of the slowest stage") {
  const std::vector<std::pair<Time, Time>> uneven = {{3, 5}, {4, 9}, {2, 2}};
  const Time nine = of_pipeline(uneven, 9);
  // The first micro-batch gets to the slowest stage in 3 ps, and all nine are there for 13 ps each; behind that the
  // last one is run backward by the first stage. At the most the pipeline's ends wait twice for all stages.
  CHECK(nine >= 3 + 9 * 13 + 5);
  CHECK(nine <= (9 + 2) * 13);
  for (const std::int64_t more : {1, 2, 7, 1000}) CHECK(of_pipeline(uneven, 9 + more) == nine + more * 13);
  // Wherever that stage is, and also for the first ones beyond: below nine each comes at the same pace.
  CHECK(of_pipeline(uneven, 8) == nine - 13);
  CHECK(of_pipeline({{4, 9}, {3, 5}, {2, 2}}, 20) == of_pipeline({{4, 9}, {3, 5}, {2, 2}}, 9) + 11 * 13);
}
