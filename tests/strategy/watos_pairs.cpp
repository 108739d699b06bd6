// What stages have to lend, and who takes it: WATOS, lines 6 to 14 of algorithm 2 and algorithm 3, by hand.
#include <catch2/catch.hpp>

#include "strategy/watos/allocation.hpp"
#include "support/random_cases.hpp"
#include "watos_problems.hpp"

using namespace tessera;
using namespace tessera::strategy::watos;

namespace {

using Pairs = std::vector<Pair>;

/// Of 100 B a die: `held` stay, and each of so many micro-batches keeps `kept`.
StageProblem keeping(std::int64_t held, std::int64_t kept, std::int64_t in_flight, std::int64_t resident = 0) {
  StageProblem stage = stage_over(0);
  stage.fixed = {held};
  stage.kept = {kept};
  stage.in_flight = stage.at_once = in_flight;
  stage.resident = resident;
  return stage;
}

/// Five stages on a row of dies: 0 and 1 lack 30 and 20 B, the others have 15, 25 and 40 B to spare.
Problem five_on_a_row() {
  return problem_of({stage_over(30), stage_over(20), stage_over(-15), stage_over(-25), stage_over(-40)}, 5, 1);
}

std::vector<std::int64_t> bytes_of(const Problem& problem, const Pairs& pairs) {
  Solution solution = in_order(problem);
  solution.pairs = pairs;
  const Lent lent = lend(problem, solution);
  CHECK(lent.is_enough);
  std::vector<std::int64_t> bytes;
  for (const PairedBytes& loan : lent.loans) bytes.push_back(loan.bytes);
  return bytes;
}

}  // namespace

TEST_CASE("watos: by hand, what a stage has to lend of each micro-batch, and what that takes of a pool") {
  const Problem problem =
      problem_of({keeping(20, 30, 4), keeping(20, 30, 4, 1), keeping(20, 20, 4), keeping(20, 15, 4)}, 4, 1);
  // 20 + 4 x 30 are 40 B too many. If all four micro-batches are away, 10 B of each are lent, and a helper has four.
  CHECK(to_lend(problem, 0, 0) == 10);
  CHECK(demand(problem, 0, 0) == 40);
  // If one of four is with the stage nevertheless, three have to bring 40 B: 14 of each, and helpers have room for
  // four.
  CHECK(to_lend(problem, 1, 0) == 14);
  CHECK(demand(problem, 1, 0) == 56);
  // 20 + 4 x 20 are all that there is; 20 + 4 x 15 leave 20 B.
  CHECK(to_lend(problem, 2, 0) == 0);
  CHECK(demand(problem, 2, 0) == 0);
  CHECK(to_lend(problem, 3, 0) == 0);
  CHECK(demand(problem, 3, 0) == -20);
}

TEST_CASE("watos: by hand, a stage that cannot lend as much as it lacks") {
  // 80 + 2 x 30 are 40 B too many. Both away: 20 of 30 B each. One of them away: it would have to bring 40 of its 30 B.
  // None of them away: nothing is lent. And where 101 B stay, all of a micro-batch is not enough.
  const Problem problem =
      problem_of({keeping(80, 30, 2), keeping(80, 30, 2, 1), keeping(80, 30, 2, 2), keeping(101, 30, 2)}, 4, 1);
  CHECK(to_lend(problem, 0, 0) == 20);
  for (const std::size_t stage : {1U, 2U, 3U}) {
    CHECK(to_lend(problem, stage, 0) == impossible);
    CHECK(demand(problem, stage, 0) == impossible);
  }
  // One away brings all of 30 B where that is what is lacking, and not a byte more.
  CHECK(to_lend(problem_of({keeping(70, 30, 2, 1)}, 1, 1), 0, 0) == 30);
  CHECK(to_lend(problem_of({keeping(71, 30, 2, 1)}, 1, 1), 0, 0) == impossible);
  // A solution with such a stage lends nothing.
  Solution solution = in_order(problem);
  solution.pairs = {{0, 1}, {1, 0}};
  CHECK_FALSE(lend(problem, solution).is_enough);
  CHECK(lend(problem, solution).loans.empty());
}

TEST_CASE("watos: by hand, senders take what helpers have left, in the order of the pairs") {
  const Problem problem = five_on_a_row();
  Solution solution = in_order(problem);
  // 30 B of stage 0: 25 to stage 3, 5 to stage 2, which has 10 left for stage 1; 10 more are taken by stage 4.
  solution.pairs = {{0, 3}, {0, 2}, {1, 2}, {1, 3}, {1, 4}, {0, 4}};
  const Lent lent = lend(problem, solution);
  CHECK(lent.is_enough);
  CHECK(lent.loans == std::vector<PairedBytes>{{{0, 3}, 25}, {{0, 2}, 5}, {{1, 2}, 10}, {{1, 4}, 10}});
  // Without stage 4 it is 40 B for 50; a stage that has to lend itself helps nobody.
  solution.pairs = {{0, 3}, {0, 2}, {1, 2}, {1, 3}, {1, 0}};
  CHECK_FALSE(lend(problem, solution).is_enough);
  CHECK(lend(problem, solution).loans == std::vector<PairedBytes>{{{0, 3}, 25}, {{0, 2}, 5}, {{1, 2}, 10}});
  // Nobody has to lend: nothing is lent, and it is enough.
  const Problem small = problem_of({stage_over(-5), stage_over(0)}, 2, 1);
  solution = in_order(small);
  solution.pairs = {{1, 0}};
  CHECK(lend(small, solution).is_enough);
  CHECK(lend(small, solution).loans.empty());
}

TEST_CASE("watos: by hand, a helper has room for as many micro-batches as are lent at once") {
  // Three micro-batches, 10 B of each; helpers have 20 and 15 B to spare. Of 20 B three times 6 are taken, and 2 B left
  // are none; of 15 B three times 4, which leaves 3 B for stage 3, whose one micro-batch lacks 3 B.
  Problem problem = problem_of({keeping(40, 30, 3), stage_over(-20), stage_over(-15), stage_over(3)}, 4, 1);
  Solution solution = in_order(problem);
  solution.pairs = {{0, 1}, {0, 2}, {3, 2}};
  CHECK(lend(problem, solution).is_enough);
  CHECK(lend(problem, solution).loans == std::vector<PairedBytes>{{{0, 1}, 6}, {{0, 2}, 4}, {{3, 2}, 3}});
  // The other way around: stage 3 first leaves 12 B, which are four times three.
  solution.pairs = {{3, 2}, {0, 2}, {0, 1}};
  CHECK(lend(problem, solution).loans == std::vector<PairedBytes>{{{3, 2}, 3}, {{0, 2}, 4}, {{0, 1}, 6}});
}

TEST_CASE("watos: by hand, algorithm 3 gives each sender its cheapest helpers, who lends most first") {
  const Problem problem = five_on_a_row();
  const Judge judge(problem, Fitness::product);
  // On the row the pipeline has all links, so that the nearest helper is the cheapest. Stage 0 (30 B): 15 to stage 2,
  // 15 to stage 3, which has 10 left; stage 1 (20 B): 10 to stage 3, 10 to stage 4.
  const Pairs expected = {{0, 2}, {0, 3}, {1, 3}, {1, 4}};
  CHECK(paired_by_location(judge, in_order(problem)) == expected);
  CHECK(bytes_of(problem, expected) == std::vector<std::int64_t>{15, 15, 10, 10});
  // Stage 4 beside stage 0 has room for all that it lends, and 10 B for stage 1, whose other neighbour brings the rest.
  Solution moved = in_order(problem);
  moved.places = {1, 2, 3, 4, 0};
  CHECK(paired_by_location(judge, moved) == Pairs{{0, 4}, {1, 2}, {1, 3}});
}

TEST_CASE("watos: by hand, of two helpers as far away the one whose way is free of the pipeline is cheaper") {
  // Dies 0 1 2 over 3 4 5. The pipeline goes from 0 to 2 along the row, and back along it to 1 and down to 4. Both
  // helpers are two links from die 0: stage 1 along the pipeline's way, 4 half steps x (2 + 4); stage 2 down the first
  // column and along the second row, 4 x 2.
  const Problem problem = problem_of({stage_over(30), stage_over(-40), stage_over(-40)}, 3, 2);
  const Judge judge(problem, Fitness::product);
  Solution solution = in_order(problem);
  solution.places = {0, 2, 4};
  CHECK(judge.cost_of(solution, {0, 1}) == 4 * (2 + 4));
  CHECK(judge.cost_of(solution, {0, 2}) == 4 * 2);
  CHECK(paired_by_location(judge, solution) == Pairs{{0, 2}});
  CHECK(paired_by_amount(problem, solution) == Pairs{{0, 1}});  // of equals the first one
}

TEST_CASE("watos: by hand, pairs by amount: who lends most with who has most to spare") {
  // 30 B go to the 40 B of stage 4, 20 B to the 25 B of stage 3; the third helper has no sender, which ends line 13.
  const Problem problem = five_on_a_row();
  CHECK(paired_by_amount(problem, in_order(problem)) == Pairs{{0, 4}, {1, 3}});
  // Where a helper has too little, the rest goes to the helpers with most room that have some left. 38 of 40 B, and 25
  // of 28 B: the 3 B of stage 1 get 2 B from stage 4 and 1 B from stage 2.
  const Problem tight =
      problem_of({stage_over(38), stage_over(28), stage_over(-15), stage_over(-25), stage_over(-40)}, 5, 1);
  const Pairs expected = {{0, 4}, {1, 3}, {1, 4}, {1, 2}};
  CHECK(paired_by_amount(tight, in_order(tight)) == expected);
  CHECK(bytes_of(tight, expected) == std::vector<std::int64_t>{38, 25, 2, 1});
  // More senders than helpers: of 60 B 20 are for each of three.
  const Problem one_helper = problem_of({stage_over(20), stage_over(20), stage_over(20), stage_over(-60)}, 4, 1);
  CHECK(paired_by_amount(one_helper, in_order(one_helper)) == Pairs{{0, 3}, {1, 3}, {2, 3}});
  // Nobody lends, nobody has room.
  const Problem none = problem_of({stage_over(-20), stage_over(0)}, 2, 1);
  CHECK(paired_by_amount(none, in_order(none)).empty());
  const Problem full = problem_of({stage_over(20), stage_over(0)}, 2, 1);
  CHECK(paired_by_amount(full, in_order(full)).empty());
}

TEST_CASE("watos: by hand, pairs that do not suffice are completed by location, and idle ones left out") {
  const Problem problem = five_on_a_row();
  const Judge judge(problem, Fitness::product);
  Solution solution = in_order(problem);
  // Stage 4 has 10 B left, which nobody asks for; stage 1 gets 15 B from stage 2 and 5 B from stage 3.
  solution.pairs = {{0, 4}};
  CHECK(completed(judge, solution) == Pairs{{0, 4}, {1, 2}, {1, 3}});
  // Enough as it is, in this order; the last one lends nothing.
  solution.pairs = {{1, 3}, {0, 4}, {0, 2}};
  CHECK(completed(judge, solution) == Pairs{{1, 3}, {0, 4}});
  // From nothing it is algorithm 3.
  solution.pairs = {};
  CHECK(completed(judge, solution) == paired_by_location(judge, solution));
}

TEST_CASE("watos: what is completed and suffices lends what each stage has to, within the room of each helper") {
  std::uint64_t enough = 0;
  for (std::uint64_t index = 0; index < test::random_cases(1000); ++index) {
    CAPTURE(index);
    const KeyedRandom random(index, random_stream("watos: pairs"));
    const Problem problem = drawn_problem(index, {2 + random.below(0, 3), 1 + random.below(1, 3), 2, 2});
    Solution solution = in_order(problem);
    for (std::size_t stage = 0; stage < problem.count(); ++stage)
      solution.sets[stage] = static_cast<std::uint16_t>(random.below(2 + stage, problem.sets.size()));
    solution.pairs = completed(Judge(problem, Fitness::product), solution);
    const Lent lent = lend(problem, solution);
    if (!lent.is_enough) continue;
    enough += lent.loans.empty() ? 0 : 1;
    REQUIRE(lent.loans.size() == solution.pairs.size());
    for (std::uint32_t stage = 0; stage < problem.count(); ++stage) {
      const StageProblem& one = problem.stages[stage];
      std::int64_t bytes = 0;  // of each micro-batch, and of all that is here at once
      std::int64_t here = one.fixed[solution.sets[stage]] + one.in_flight * one.kept[solution.sets[stage]];
      for (const PairedBytes& loan : lent.loans) {
        if (loan.pair.sender == stage) bytes += loan.bytes;
        if (loan.pair.helper == stage) here += loan.bytes * problem.stages[loan.pair.sender].at_once;
      }
      REQUIRE(bytes == to_lend(problem, stage, solution.sets[stage]));
      REQUIRE(here - bytes * (one.in_flight - one.resident) <= problem.memory);
    }
  }
  CHECK(enough > test::random_cases(1000) / 5);
}
