#include <catch2/catch.hpp>

#include "strategy/watos/first_order.hpp"
#include "watos_problems.hpp"

namespace tessera::strategy::watos {
namespace {

/// Two stages with 100 B a die that hold 20 B and keep 60 B of each micro-batch, or 10 B for 200 ps more.
Problem two_stages() {
  Problem problem;
  for (const std::int64_t in_flight : {2, 1}) {
    StageProblem stage;
    stage.in_flight = in_flight;
    stage.kept = {60, 10};
    stage.fixed = {20, 20};
    stage.forward = {100};
    stage.time = {{300, 500}};
    stage.front = {0, 1};
    problem.stages.push_back(stage);
  }
  problem.sets = {0, 1};
  problem.places = dies_of(2, 1);
  problem.memory = 100;
  problem.micro_batches = 4;
  problem.update = {0};
  return problem;
}

std::int64_t need(const Problem& problem, std::size_t stage, std::size_t set) {
  const StageProblem& one = problem.stages[stage];
  return one.fixed[set] + one.in_flight * one.kept[set] - problem.memory;
}

}  // namespace

TEST_CASE("to first order a fifth of a stage runs again where the pool lacks a fifth of what that frees", "[watos]") {
  // 20 + 120 and 20 + 60 B are 20 more than the pool's 200. The first stage frees 100 B for 200 ps, the second one 50:
  // a fifth of the first one, 40 ps. So 640 ps of work on two stages, and (4 + 2 - 1) x 320 for four micro-batches.
  const FirstOrder found = first_order(two_stages());
  CHECK(found.fits);
  CHECK(found.again == 40);
  CHECK(found.work == 640);
  CHECK(found.iteration == 1600);
}

TEST_CASE("to first order a set above the line between two others is never run", "[watos]") {
  // The middle one frees 20 of 100 B for 150 of 200 ps: a fifth of the way to the last one costs 40 ps and not 150.
  Problem problem = two_stages();
  problem.sets = {0, 2, 1};
  for (StageProblem& stage : problem.stages) {
    stage.kept = {60, 50, 10};
    stage.fixed = {20, 20, 20};
    stage.time = {{300, 450, 500}};
    stage.front = {0, 1, 2};
  }
  CHECK(first_order(problem).again == 40);
}

TEST_CASE("to first order work stands where it is the fastest, and sums over replicas come behind it", "[watos]") {
  Problem problem = two_stages();
  for (StageProblem& stage : problem.stages) stage.time.push_back({270, 450});
  problem.update = {30, 20};
  problem.shared = 7;
  // 540 ps and a fifth of 180: 576 on two stages, five halves of it, 20 and 7 behind it.
  CHECK(first_order(problem).iteration == 1440 + 27);
}

TEST_CASE("to first order a pool that cannot hold the smallest sets is said to be too small", "[watos]") {
  Problem problem = two_stages();
  problem.memory = 24;  // 20 + 20 and 20 + 10 B with all run again, in a pool of 48
  CHECK_FALSE(first_order(problem).fits);
  problem.memory = 35;
  CHECK(first_order(problem).fits);
}

TEST_CASE("no choice of sets that the pool holds works less than to first order", "[watos]") {
  std::size_t held = 0;
  for (std::uint64_t key = 0; key < 200; ++key) {
    const Problem problem = drawn_problem(key, {3, 3, 2, 2});
    const FirstOrder bound = first_order(problem);
    for (const std::vector<std::uint16_t>& sets : all_sets(problem)) {
      std::int64_t over = 0;
      Time work = 0;
      for (std::size_t stage = 0; stage < problem.count(); ++stage) {
        over += need(problem, stage, sets[stage]);
        work += problem.stages[stage].time[0][sets[stage]];
      }
      if (over > 0) continue;
      ++held;
      CHECK(bound.fits);
      CHECK(work >= bound.work);
    }
  }
  CHECK(held > 1000);
}

}  // namespace tessera::strategy::watos
