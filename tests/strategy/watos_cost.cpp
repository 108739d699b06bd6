// What a placement costs: Eq. (2) of WATOS by hand, and gamma beside all shortest ways.
#include <catch2/catch.hpp>

#include "strategy/watos/global_cost.hpp"
#include "strategy/watos/placement.hpp"
#include "support/random_cases.hpp"
#include "watos_problems.hpp"

using namespace tessera;
using namespace tessera::strategy::watos;

namespace {

/// Stages at these dies of a grid, by number, on the pipeline's way one after another.
struct Standing {
  Problem problem;
  Solution solution;

  Standing(int columns, int rows, std::vector<std::uint16_t> dies)
      : problem(problem_of(std::vector<StageProblem>(dies.size(), stage_over(-10)), columns, rows)),
        solution(in_order(problem)) {
    solution.places = std::move(dies);
  }
  [[nodiscard]] int shared(std::size_t from, std::size_t to) const {
    PipelineWays ways(problem);
    ways.take(problem, solution);
    return ways.shared(problem.places[from], problem.places[to]);
  }
};

/// A half step between two points, in no direction.
using Link = std::pair<std::pair<int, int>, std::pair<int, int>>;

Link link_of(std::pair<int, int> a, std::pair<int, int> b) { return {std::min(a, b), std::max(a, b)}; }

/// Those of all ways of the pipeline, walked half step by half step, along the row first.
std::set<Link> walked(const Problem& problem, const Solution& solution) {
  std::set<Link> links;
  for (std::size_t stage = 0; stage + 1 < problem.count(); ++stage) {
    for (std::uint32_t replica = 0; replica < problem.replicas; ++replica) {
      const Place &from = problem.places[solution.place(problem, stage, replica)],
                  &to = problem.places[solution.place(problem, stage + 1, replica)];
      std::pair<int, int> at{from.x, from.y};
      while (at != std::pair{to.x, to.y}) {
        std::pair<int, int> next = at;
        if (at.first != to.x) {
          next.first += at.first < to.x ? 1 : -1;
        } else {
          next.second += at.second < to.y ? 1 : -1;
        }
        links.insert(link_of(at, next));
        at = next;
      }
    }
  }
  return links;
}

/// Of all shortest ways on from here the fewest of these links.
int fewest(const std::set<Link>& links, std::pair<int, int> at, std::pair<int, int> to) {
  if (at == to) return 0;
  int least = 1 << 20;
  const auto go = [&](std::pair<int, int> next) {
    const int here = links.contains(link_of(at, next)) ? 1 : 0;
    least = std::min(least, here + fewest(links, next, to));
  };
  if (at.first != to.first) go({at.first + (at.first < to.first ? 1 : -1), at.second});
  if (at.second != to.second) go({at.first, at.second + (at.second < to.second ? 1 : -1)});
  return least;
}

/// Half steps of the pipeline, and of pairs.
int length_of(const Problem& problem, const std::vector<std::uint16_t>& order) {
  int sum = 0;
  for (std::size_t stage = 0; stage + 1 < order.size(); ++stage)
    sum += distance(problem.places[order[stage]], problem.places[order[stage + 1]]);
  return sum;
}

}  // namespace

TEST_CASE("watos: distances are in half steps along columns and rows") {
  const std::vector<Place> dies = dies_of(3, 2);
  CHECK(distance(dies[0], dies[0]) == 0);
  CHECK(distance(dies[0], dies[5]) == 6);  // two columns and a row, two half steps each
  CHECK(distance(dies[5], dies[0]) == 6);
  CHECK(distance(dies[3], dies[1]) == 4);
}

TEST_CASE("watos: gamma by hand, where ways run along the pipeline's and where they cross them") {
  // Dies 0 1 2 over 3 4 5. The pipeline goes 0, 2, 5: along the first row, then down the last column.
  const Standing corner(3, 2, {0, 2, 5});
  CHECK(corner.shared(0, 2) == 4);  // there is but one shortest way, and it is the pipeline's
  CHECK(corner.shared(2, 0) == 4);
  CHECK(corner.shared(1, 2) == 2);  // half of it
  CHECK(corner.shared(0, 5) == 0);  // down the first column, then along the second row
  CHECK(corner.shared(1, 4) == 0);
  // From below the corner to it: up, along between the rows, and the last half step up the last column.
  CHECK(corner.shared(3, 2) == 1);
  // And back along the second row: from die 0 to die 5 one half step is shared whichever way is taken, the last one
  // down the last column or the last one along the second row.
  const Standing around(3, 2, {0, 2, 5, 3});
  CHECK(around.shared(0, 5) == 1);
  // A way that crosses the pipeline's shares a point with it, no link: 1 to 7 of a grid of three rows, with the
  // pipeline along the middle one.
  const Standing cross(3, 3, {3, 5});
  CHECK(cross.shared(1, 7) == 0);
  CHECK(cross.shared(3, 5) == 4);
}

TEST_CASE("watos: gamma is the least of all shortest ways") {
  std::uint64_t positive = 0;
  for (std::uint64_t index = 0; index < test::random_cases(500); ++index) {
    CAPTURE(index);
    const KeyedRandom random(index, random_stream("watos: ways"));
    const int columns = 1 + static_cast<int>(random.below(0, 4)), rows = 2 + static_cast<int>(random.below(1, 3));
    const std::uint64_t dies = static_cast<std::uint64_t>(columns) * static_cast<std::uint64_t>(rows);
    const std::uint64_t replicas = dies >= 4 ? 1 + random.below(2, 2) : 1;
    const std::size_t stages = 2 + random.below(3, dies / replicas - 1);
    Problem problem = problem_of(std::vector<StageProblem>(stages, stage_over(-10)), columns, rows);
    problem.replicas = static_cast<std::uint32_t>(replicas);
    std::vector<std::uint16_t> order(dies);
    std::iota(order.begin(), order.end(), std::uint16_t{0});
    shuffle(order, KeyedRandom(index, random_stream("watos: order")));
    Solution solution = in_order(problem);
    std::copy_n(order.begin(), solution.places.size(), solution.places.begin());
    PipelineWays ways(problem);
    ways.take(problem, in_order(problem));  // of which nothing may be left
    ways.take(problem, solution);
    const std::set<Link> links = walked(problem, solution);
    const Place &from = problem.places[random.below(4, dies)], &to = problem.places[random.below(5, dies)];
    const int shared = ways.shared(from, to);
    REQUIRE(shared == fewest(links, {from.x, from.y}, {to.x, to.y}));
    positive += shared > 0 ? 1 : 0;
  }
  CHECK(positive > test::random_cases(500) / 4);
}

TEST_CASE("watos: Eq. (2) by hand") {
  // Dies 0 1 2 over 3 4 5, stages at 0, 2, 5; parts of 10 B.
  Standing corner(3, 2, {0, 2, 5});
  PipelineWays ways(corner.problem);
  // Two links and one: 3 x 10 B, and four times that.
  CHECK(global_cost(corner.problem, corner.solution, {}, ways) == 4 * 30);
  // Stage 0 lends 7 B over three links that nobody else uses, and 5 B over two that the pipeline uses: x (1 + 2).
  const std::vector<PairedBytes> loans = {{{0, 2}, 7}, {{0, 1}, 5}};
  CHECK(global_cost(corner.problem, corner.solution, loans, ways) == 4 * (30 + 3 * 7 + 2 * 5 * (1 + 2)));
  // Of one stage nothing goes anywhere: as a factor that is 1.
  const Standing alone(1, 1, {0});
  CHECK(global_cost(alone.problem, alone.solution, {}, ways) == 1);
}

TEST_CASE("watos: Eq. (2) by hand, of two replicas") {
  // Dies 0 1 over 2 3, the replicas of stage 0 at 0 and 2, those of stage 1 at 1 and 3: a link each.
  Problem problem = problem_of({stage_over(5), stage_over(-10)}, 2, 2);
  problem.replicas = 2;
  Solution solution = in_order(problem);
  solution.places = {0, 2, 1, 3};
  PipelineWays ways(problem);
  // Each replica's loan goes along its own pipeline: 5 B x (1 + 1).
  CHECK(global_cost(problem, solution, {{{0, 1}, 5}}, ways) == 4 * 2 * (10 + 5 * (1 + 1)));
}

TEST_CASE("watos: of two wafers side by side one is filled after the other") {
  // 0 1 | 2 3 over 4 5 | 6 7: along whole rows the joint would be crossed twice, once a row.
  Problem problem = problem_of(std::vector<StageProblem>(8, stage_over(-10)), 4, 2);
  for (Place& place : problem.places) place.grid = place.x / 4;
  const auto orders = serpentines(problem);
  CHECK(orders[0] == std::vector<std::uint16_t>{0, 1, 5, 4, 2, 3, 7, 6});
  CHECK(orders[1] == std::vector<std::uint16_t>{0, 4, 5, 1, 2, 6, 7, 3});
}

TEST_CASE("watos: figure 11, eight stages of 4 x 2 dies along rows and down columns") {
  // Centres are 8 half steps apart across, 4 along: tiles begin at columns 0 and 4 and at rows 0, 2, 4, 6.
  Problem problem = problem_of(std::vector<StageProblem>(8, stage_over(-10)), 1, 1);
  problem.places.clear();
  for (int row = 0; row < 8; row += 2)
    for (int column = 0; column < 8; column += 4) problem.places.push_back({{}, 2 * column + 3, 2 * row + 1});
  const auto pairs = [&](const std::vector<std::uint16_t>& order) {
    return distance(problem.places[order[0]], problem.places[order[7]]) +
           distance(problem.places[order[1]], problem.places[order[6]]);
  };
  const auto orders = serpentines(problem);
  REQUIRE(orders.size() == 4);
  // Along rows: four times 4 links across, three times 2 down. S1 and S8 stand at the ends of the first column, S2 and
  // S7 at those of the second one: 6 links each.
  CHECK(length_of(problem, orders[0]) == 2 * 22);
  CHECK(pairs(orders[0]) == 2 * 12);
  // Down the first column and up the second one: six times 2 links and once 4; both pairs stand side by side.
  CHECK(length_of(problem, orders[1]) == 2 * 16);
  CHECK(pairs(orders[1]) == 2 * 8);
  // The other two are these from their other ends.
  for (const std::size_t i : {2U, 3U}) {
    CHECK(orders[i].front() == orders[i - 2].back());
    CHECK(length_of(problem, orders[i]) == length_of(problem, orders[i - 2]));
    CHECK(pairs(orders[i]) == pairs(orders[i - 2]));
  }
}
