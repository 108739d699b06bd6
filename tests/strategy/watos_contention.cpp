// Loans hold up the collectives of the groups whose links they take.
#include "strategy/watos/contention.hpp"

#include <catch2/catch.hpp>

#include "strategy/watos/prediction.hpp"
#include "watos_problems.hpp"

using namespace tessera;
using namespace tessera::strategy::watos;

namespace {

/// Three stages in tiles of 2 x 4 dies: two side by side, the third below the second. A link carries 1 B in 1 ps.
Problem problem_of_tiles() {
  Problem problem = problem_of({stage_over(-10), stage_over(-10), stage_over(-10)}, 3, 1);
  problem.per_mebibyte = 1 << 20;
  const int centres[3][2] = {{1, 3}, {5, 3}, {5, 11}};
  for (std::size_t i = 0; i < 3; ++i) {
    problem.places[i].x = centres[i][0];
    problem.places[i].y = centres[i][1];
    problem.places[i].columns = 2;
    problem.places[i].rows = 4;
    problem.stages[i].until_next = 10;
  }
  return problem;
}

}  // namespace

TEST_CASE("watos: a loan is there and back on the links of the side that it leaves over, which dies share") {
  const Problem problem = problem_of_tiles();
  const Solution solution = in_order(problem);
  CHECK(held_up(problem, solution, {}) == std::vector<Time>{0, 0, 0});
  // To the right: the two dies of a row share its link, 2 x 20 B are 40 ps, and a collective comes after 10: twice 30.
  // The helper's side is alike, and nobody else is held up.
  CHECK(held_up(problem, solution, {{{0, 1}, 20}}) == std::vector<Time>{60, 60, 0});
  // Down: four dies of a column share a link, 4 x 20 - 10 = 70.
  CHECK(held_up(problem, solution, {{{1, 2}, 20}}) == std::vector<Time>{0, 140, 140});
  // What is over before the next collective comes holds nobody up.
  CHECK(held_up(problem, solution, {{{0, 1}, 5}}) == std::vector<Time>{0, 0, 0});
}

TEST_CASE("watos: loans over one side add up, over several the busiest side counts") {
  Problem problem = problem_of_tiles();
  const Solution solution = in_order(problem);
  // The middle stage takes from the left 2 x 20 and from below 4 x 20 at once: the latter counts.
  CHECK(held_up(problem, solution, {{{0, 1}, 20}, {{2, 1}, 20}}) == std::vector<Time>{60, 140, 140});
  // Where the third stands right of the second the first one's loan to either leaves over the same side: 2 x 40 - 10.
  problem.places[2].x = 9;
  problem.places[2].y = 3;
  CHECK(held_up(problem, solution, {{{0, 1}, 20}, {{0, 2}, 20}}) == std::vector<Time>{140, 60, 60});
}

TEST_CASE("watos: what is held up makes stages slower, half of it in each pass") {
  Problem problem = problem_of_tiles();
  problem.micro_batches = 1;
  const Solution solution = in_order(problem);
  const std::vector<PairedBytes> loans = {{{0, 1}, 20}};
  // Three stages of 1 + 2 ps one after another, and two of them 60 ps longer.
  CHECK(predicted(problem, solution, {}) == 9);
  CHECK(stage_times(problem, solution, loans) == std::vector<Time>{63, 63, 3});
  CHECK(slowest(problem, solution, loans) == 63);
  CHECK(predicted(problem, solution, loans) == 9 + 2 * 60);
  // The least that it takes, over the side with the most links: 2 dies a link.
  CHECK(held_up_at_least(problem, 0, problem.places[0], 20) == 60);
}
