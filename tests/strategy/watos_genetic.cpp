// The genetic search of WATOS, and the placement on its own, beside the best of all solutions.
#include <catch2/catch.hpp>

#include "strategy/watos/genome.hpp"
#include "strategy/watos/placement.hpp"
#include "strategy/watos/steps.hpp"
#include "support/random_cases.hpp"
#include "tessera/program/search/genetic.hpp"
#include "watos_problems.hpp"

using namespace tessera;
using namespace tessera::strategy::watos;
using program::search::GeneticOptions;

namespace {

program::search::Bred<Genome> bred_from(const Judge& judge, const Solution& start, const GeneticOptions& options) {
  return program::search::breed(
      Genome(judge, start), [](const Genome& genome) { return genome.fitness(); }, options);
}

/// All whose fitness is asked for, one after another.
std::vector<std::string> asked_by(const Judge& judge, const Solution& start, const GeneticOptions& options) {
  std::vector<std::string> all;
  const auto fitness = [&](const Genome& genome) {
    all.push_back(genome.text());
    return genome.fitness();
  };
  static_cast<void>(program::search::breed(Genome(judge, start), fitness, options));
  return all;
}

GeneticOptions small_search(std::uint64_t seed) {
  GeneticOptions options;
  options.seed = seed;
  options.population = 40;
  options.generations = 40;
  return options;
}

/// A problem in which something fits, and what GCMR makes of it; drawn until there is one.
struct Start {
  Problem problem;
  Solution solution;

  Start(std::uint64_t key, const DrawnSizes& sizes) {
    constexpr std::uint64_t apart = 1'000'000;
    for (std::uint64_t more = 0;; more += apart) {
      problem = drawn_problem(key + more, sizes);
      const std::optional<Solution> found = recomputed(problem);
      if (!found || (sizes.stages > 1 && found->pairs.empty())) continue;
      solution = *found;
      return;
    }
  }
};

/// So many of 100 seeds find the best of all solutions.
int hits(const Start& start, GeneticOptions options) {
  const Judge judge(start.problem, Fitness::product);
  const Int128 least = least_fitness(judge);
  int found = 0;
  for (options.seed = 1; options.seed <= 100; ++options.seed) {
    const auto bred = bred_from(judge, start.solution, options);
    REQUIRE(bred.fitness >= least);
    REQUIRE(judge.score(bred.best.solution()).fitness == bred.fitness);
    found += bred.fitness == least ? 1 : 0;
  }
  return found;
}

}  // namespace

TEST_CASE("watos: of 100 seeds 95 and more find the best of all sets, places and pairs") {
  // Of small problems already a small search, of 4,096 sets of four stages in 24 orders the one that users have.
  for (const DrawnSizes& sizes :
       std::vector<DrawnSizes>{{2, 3, 2, 2}, {3, 3, 3, 1}, {3, 3, 2, 2}, {4, 2, 2, 2}, {4, 3, 2, 2}}) {
    const bool is_large = sizes.stages == 4 && sizes.sections == 3;
    for (std::uint64_t key = 1; key <= std::max<std::uint64_t>(1, test::random_cases(2)); ++key) {
      CAPTURE(sizes.stages, sizes.sections, sizes.columns, sizes.rows, key);
      CHECK(hits(Start(key, sizes), is_large ? GeneticOptions() : small_search(1)) >= 95);
    }
  }
}

TEST_CASE("watos: placement alone finds the best of all placements of up to six stages") {
  for (std::uint64_t index = 0; index < test::random_cases(30); ++index) {
    CAPTURE(index);
    const KeyedRandom random(index, random_stream("watos: placements"));
    const std::size_t stages = 2 + random.below(0, 5);
    const Start start(index, {stages, 1, 3, 2});
    const Judge judge(start.problem, index % 2 == 0 ? Fitness::product : Fitness::time);
    Solution solution = start.solution;
    solution.places = best_places(start.problem, solution, judge);
    const Score found = judge.score(solution);
    REQUIRE(found.fits);
    std::optional<Int128> least;
    for (const std::vector<std::uint16_t>& places : all_places(start.problem)) {
      solution.places = places;
      const Int128 fitness = judge.score(solution).fitness;
      if (!least || fitness < *least) least = fitness;
    }
    REQUIRE(found.fitness == *least);
  }
}

TEST_CASE("watos: where there are more placements, what is found is no worse than any serpentine") {
  for (std::uint64_t index = 0; index < test::random_cases(10); ++index) {
    CAPTURE(index);
    const Start start(index, {8, 1, 4, 3});
    const Judge judge(start.problem, Fitness::product);
    Solution solution = start.solution;
    solution.places = best_places(start.problem, solution, judge);
    const Int128 found = judge.score(solution).fitness;
    CHECK(std::set(solution.places.begin(), solution.places.end()).size() == 8);
    CHECK(found <= judge.score(start.solution).fitness);
    for (std::vector<std::uint16_t> order : serpentines(start.problem)) {
      order.resize(8);
      solution.places = order;
      CHECK(found <= judge.score(solution).fitness);
    }
  }
}

TEST_CASE("watos: the genetic search is the same for a seed, and two searches of a seed draw differently") {
  const Start start(7, {4, 3, 3, 2});
  const Judge judge(start.problem, Fitness::product);
  GeneticOptions options = small_search(3);
  options.generations = 3;
  const std::vector<std::string> first = asked_by(judge, start.solution, options);
  CHECK(first.size() == 40 + 3 * 40);
  CHECK(asked_by(judge, start.solution, options) == first);
  options.search = 1;
  CHECK(asked_by(judge, start.solution, options) != first);
  options.search = 0;
  options.seed = 4;
  CHECK(asked_by(judge, start.solution, options) != first);
}

TEST_CASE("watos: the best fitness never rises from generation to generation, whatever share stays") {
  for (const Fitness fitness : {Fitness::product, Fitness::time}) {
    for (const double elitism : {0.0, 0.5, 1.0}) {
      CAPTURE(elitism);
      const Start start(11, {4, 3, 3, 2});
      const Judge judge(start.problem, fitness);
      GeneticOptions options = small_search(5);
      options.elitism = elitism;
      const auto bred = bred_from(judge, start.solution, options);
      CHECK(bred.curve.size() == 41);
      CHECK(std::ranges::is_sorted(bred.curve, std::greater<>()));
      CHECK(bred.curve.front() <= judge.score(start.solution).fitness);
      CHECK(bred.curve.back() == bred.fitness);
      CHECK(bred.curve.back() < bred.curve.front());
      CHECK(judge.score(bred.best.solution()).fits);
    }
  }
}

TEST_CASE("watos: by time, the shorter iteration is fitter, and of equals the cheaper placement") {
  const Problem problem = problem_of({stage_over(30), stage_over(-40)}, 3, 1);
  const Judge judge(problem, Fitness::time);
  Solution near = in_order(problem), far = near;
  near.pairs = far.pairs = {{0, 1}};
  far.places = {0, 2};
  // One micro-batch of two stages takes 1 + 1 + 2 + 2 = 6 ps. A link: 4 x (10 + 30 x (1 + 1)); two: twice as far, for
  // the loan with twice as many links that are shared.
  CHECK(judge.score(near).fitness == (Int128{6} << 62U) + 4 * (10 + 30 * 2));
  CHECK(judge.score(far).fitness == (Int128{6} << 62U) + 4 * (20 + 2 * 30 * 3));
  // By the product it is 3 ps, of the slowest stage, times the same.
  CHECK(Judge(problem, Fitness::product).score(near).fitness == 3 * 4 * (10 + 30 * 2));
  near.pairs.clear();
  CHECK_FALSE(judge.score(near).fits);
}
