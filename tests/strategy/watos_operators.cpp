// The genetic operators and the crossing: what they make fits, and they lead from any solution to any other one.
#include "strategy/watos/operators.hpp"

#include <catch2/catch.hpp>

#include <deque>

#include "strategy/watos/allocation.hpp"
#include "strategy/watos/genome.hpp"
#include "strategy/watos/steps.hpp"
#include "support/random_cases.hpp"
#include "watos_problems.hpp"

using namespace tessera;
using namespace tessera::strategy::watos;

namespace {

template <class T>
bool has_no_equals(std::vector<T> all) {
  std::ranges::sort(all);
  return std::ranges::adjacent_find(all) == all.end();
}

/// What a genetic operator may make, whether it suffices or not.
void require_in_order(const Problem& problem, const Solution& solution) {
  REQUIRE(solution.sets.size() == problem.count());
  REQUIRE(solution.places.size() == problem.count() * problem.replicas);
  for (const std::uint16_t set : solution.sets) REQUIRE(set < problem.sets.size());
  for (const std::uint16_t place : solution.places) REQUIRE(place < problem.places.size());
  REQUIRE(has_no_equals(solution.places));
  REQUIRE(has_no_equals(solution.pairs));
  for (const Pair& pair : solution.pairs) REQUIRE(pair.sender != pair.helper);
}

void require_fits(const Problem& problem, const Genome& genome) {
  require_in_order(problem, genome.solution());
  REQUIRE(lend(problem, genome.solution()).is_enough);
}

DrawnSizes drawn_sizes(const KeyedRandom& random) {
  DrawnSizes sizes{2 + random.below(0, 3), 1 + random.below(1, 3), 2, 2};
  sizes.columns += static_cast<int>(random.below(2, 2));
  return sizes;
}

/// What is known of solutions that are reached from a start; each is left by so many draws.
std::set<Decoded> reached_from(const Judge& judge, const Solution& start, std::uint64_t draws) {
  std::set<Solution> known = {start};
  std::set<Decoded> found;
  std::deque<Solution> open = {start};
  for (std::uint64_t number = 0; !open.empty(); ++number) {
    const Genome genome(judge, open.front());
    open.pop_front();
    found.insert(decoded(judge.problem(), genome.solution()));
    const KeyedRandom keys(number, random_stream("watos: reached"));
    for (std::uint64_t i = 0; i < draws; ++i) {
      Solution next = genome.neighbour(keys.bits(i)).solution();
      if (known.insert(next).second) open.push_back(std::move(next));
    }
  }
  return found;
}

std::set<Decoded> all_feasible(const Problem& problem) {
  std::set<Decoded> all;
  for (const std::vector<std::uint16_t>& sets : all_sets(problem))
    for (const std::vector<Pair>& pairs : all_pairs(problem, sets))
      for (const std::vector<std::uint16_t>& places : all_places(problem))
        all.insert(decoded(problem, {sets, places, pairs}));
  return all;
}

}  // namespace

TEST_CASE("watos: each operator makes solutions in order, and of neighbours and children all fit") {
  std::map<std::string, std::uint64_t> applied, fitted;
  std::uint64_t lending = 0;
  for (std::uint64_t index = 0; index < test::random_cases(200); ++index) {
    CAPTURE(index);
    const KeyedRandom random(index, random_stream("watos: operators"));
    Problem problem = drawn_problem(index, drawn_sizes(random));
    if (index % 4 == 0 && problem.places.size() >= 2 * problem.count()) problem.replicas = 2;
    problem.start = serpentines(problem).front();
    const Judge judge(problem, Fitness::product);
    const std::optional<Solution> start = recomputed(problem);
    if (!start) continue;
    Genome at(judge, *start), before = at;
    for (std::uint64_t step = 0; step < 50; ++step) {
      require_fits(problem, at);
      lending += at.solution().pairs.empty() ? 0 : 1;
      for (const Operator& one : operators()) {
        Draws draws(random.bits(100 + step));
        std::optional<Solution> other = one.apply(judge, at.solution(), draws);
        if (!other) continue;
        require_in_order(problem, *other);
        ++applied[one.name];
        other->pairs = completed(judge, *other);
        fitted[one.name] += lend(problem, *other).is_enough ? 1 : 0;
      }
      require_fits(problem, at.crossed(before, random.bits(200 + step)));
      const Genome next = at.neighbour(random.bits(300 + step));
      if (step % 5 == 0) before = at;
      at = next;
    }
  }
  REQUIRE(operators().size() == 5);
  for (const Operator& one : operators()) {
    CAPTURE(one.name);
    CHECK(applied[one.name] > test::random_cases(200) / 4);
    CHECK(fitted[one.name] > test::random_cases(200) / 4);
  }
  CHECK(lending > test::random_cases(200));
}

TEST_CASE("watos: a child has the sets of its parents, the first stages' of one and the last ones' of the other") {
  Problem problem = problem_of({stage_over(-10), stage_over(-10), stage_over(-10)}, 3, 1);
  problem.sets = {0, 1};
  for (StageProblem& stage : problem.stages) {
    stage.kept.push_back(20);
    stage.fixed.push_back(30);
    stage.time[0].push_back(4);
  }
  const Judge judge(problem, Fitness::product);
  Solution mother = in_order(problem), father = mother;
  father.sets = {1, 1, 1};
  father.places = {2, 1, 0};
  std::set<std::vector<std::uint16_t>> seen;
  for (std::uint64_t key = 0; key < 50; ++key) {
    const Genome child = Genome(judge, mother).crossed(Genome(judge, father), key);
    CHECK(child.solution().places == mother.places);
    seen.insert(child.solution().sets);
  }
  CHECK(seen == std::set<std::vector<std::uint16_t>>{{0, 0, 1}, {0, 1, 1}, {1, 1, 1}});
}

TEST_CASE("watos: the operators lead from the first solution to all that fit") {
  // As stages, sections, columns and rows: more places than stages, several sections, several senders.
  const std::vector<DrawnSizes> all = {{2, 3, 2, 1}, {3, 1, 2, 2}, {3, 2, 3, 1}, {4, 1, 4, 1}};
  std::size_t several_ways = 0;
  for (const DrawnSizes& sizes : all) {
    for (std::uint64_t key = 0; key < std::max<std::uint64_t>(1, test::random_cases(4)); ++key) {
      CAPTURE(sizes.stages, sizes.sections, key);
      const Problem problem = drawn_problem(1000 + key, sizes);
      const Judge judge(problem, Fitness::product);
      const std::optional<Solution> start = recomputed(problem);
      REQUIRE(start);
      const std::set<Decoded> feasible = all_feasible(problem), reached = reached_from(judge, *start, 150);
      CHECK(reached.size() == feasible.size());
      CHECK(reached == feasible);
      std::set<std::vector<std::uint16_t>> sets;
      for (const Decoded& one : feasible) sets.insert(std::get<0>(one));
      several_ways += feasible.size() > sets.size() * all_places(problem).size() ? 1 : 0;
    }
  }
  // Where two stages lend, or have room, there are several ways to share out.
  CHECK(several_ways >= all.size() / 2);
}
