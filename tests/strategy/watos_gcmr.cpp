// GCMR: by hand, and the search, the dynamic program and all choices against each other.
#include "strategy/watos/gcmr.hpp"

#include <catch2/catch.hpp>

#include "support/random_cases.hpp"
#include "watos_problems.hpp"

using namespace tessera;
using namespace tessera::strategy::watos;

namespace {

/// Three stages; the last one can add to the pool.
StageFronts three_stages() { return {{{10, 8}, {12, 5}, {16, 1}}, {{10, 4}, {13, 1}}, {{10, 1}, {15, -3}}}; }

Int128 memory_of(const StageFronts& stages, const Coordinated& choice) {
  Int128 sum = 0;
  for (std::size_t stage = 0; stage < stages.size(); ++stage) sum += stages[stage][choice.chosen[stage]].memory;
  return sum;
}

Time slowest_of(const StageFronts& stages, const Coordinated& choice) {
  Time most = 0;
  for (std::size_t stage = 0; stage < stages.size(); ++stage)
    most = std::max(most, stages[stage][choice.chosen[stage]].time);
  return most;
}

/// Up to six stages of up to six options, none of which another one beats; in no order.
StageFronts drawn_fronts(const KeyedRandom& random) {
  std::uint64_t next = 0;
  StageFronts stages(1 + random.below(next++, 6));
  for (std::vector<StageOption>& options : stages) {
    const std::uint64_t count = 1 + random.below(next++, 6);
    StageOption one{static_cast<Time>(random.below(next++, 30)),
                    static_cast<std::int64_t>(random.below(next++, 100)) - 20};
    for (std::uint64_t i = 0; i < count; ++i) {
      one.time += 1 + static_cast<Time>(random.below(next++, 12));
      one.memory -= 1 + static_cast<std::int64_t>(random.below(next++, 25));
      options.push_back(one);
    }
    shuffle(options, KeyedRandom(random.bits(next++), random_stream("options")));
  }
  return stages;
}

/// From less than any choice takes to more than all need.
std::int64_t drawn_pool(const KeyedRandom& random, const StageFronts& stages) {
  std::int64_t least = 0, most = 0;
  for (const std::vector<StageOption>& options : stages) {
    const auto [low, high] = std::ranges::minmax(options, {}, &StageOption::memory);
    least += low.memory;
    most += high.memory;
  }
  constexpr std::int64_t beyond = 10;
  return least - beyond +
         static_cast<std::int64_t>(
             random.below(~std::uint64_t{0}, static_cast<std::uint64_t>(most - least + 2 * beyond)));
}

/// The least t_max of all choices that the pool has room for.
std::optional<Time> least_of_all(const StageFronts& stages, std::int64_t pool) {
  std::optional<Time> least;
  Coordinated choice{std::vector<std::size_t>(stages.size(), 0), 0};
  while (true) {
    const Time time = slowest_of(stages, choice);
    if (memory_of(stages, choice) <= pool && (!least || time < *least)) least = time;
    std::size_t stage = 0;
    while (stage < stages.size() && ++choice.chosen[stage] == stages[stage].size()) choice.chosen[stage++] = 0;
    if (stage == stages.size()) return least;
  }
}

void check_spending(const StageFronts& stages, std::int64_t pool, const Coordinated& before) {
  Coordinated after = before;
  spend_rest(stages, pool, after);
  const Int128 left = pool - memory_of(stages, after);
  REQUIRE(left >= 0);
  REQUIRE(slowest_of(stages, after) <= before.slowest);
  for (std::size_t stage = 0; stage < stages.size(); ++stage) {
    const StageOption &now = stages[stage][after.chosen[stage]], &was = stages[stage][before.chosen[stage]];
    REQUIRE(now.time <= was.time);
    // What is left makes no stage faster.
    for (const StageOption& other : stages[stage])
      REQUIRE((other.time >= now.time || other.memory - now.memory > left));
  }
}

}  // namespace

TEST_CASE("watos: by hand, three stages run so much again as one pool of memory needs") {
  const StageFronts stages = three_stages();
  // In 6 B: at 10 ps they take 8 + 4 + 1, at 12 ps 5 + 4 + 1, at 13 ps 5 + 1 + 1 = 7, and at 15 ps, which the last one
  // makes use of, 5 + 1 - 3 = 3.
  const auto found = coordinated(stages, 6);
  REQUIRE(found);
  CHECK(found->slowest == 15);
  CHECK(found->chosen == std::vector<std::size_t>{1, 1, 1});
  const auto by_table = coordinated_by_table(stages, 6);
  REQUIRE(by_table);
  CHECK(by_table->slowest == 15);
  // With one byte more 13 ps do; with 13 B nothing is run again.
  CHECK(coordinated(stages, 7)->slowest == 13);
  CHECK(coordinated(stages, 13)->chosen == std::vector<std::size_t>{0, 0, 0});
  // At least they take 1 + 1 - 3 = -1.
  CHECK(coordinated(stages, -1)->slowest == 16);
  CHECK(coordinated_by_table(stages, -1)->slowest == 16);
  CHECK_FALSE(coordinated(stages, -2));
  CHECK_FALSE(coordinated_by_table(stages, -2));
}

TEST_CASE("watos: by hand, what is left of the pool goes where most time is saved for it") {
  const StageFronts stages = three_stages();
  // 3 of the 6 B are left. The first stage saves 2 ps for 3 B, the second one 3 ps for 3 B, the last one needs 4 B.
  Coordinated choice = *coordinated(stages, 6);
  spend_rest(stages, 6, choice);
  CHECK(choice.chosen == std::vector<std::size_t>{1, 0, 1});
  CHECK(memory_of(stages, choice) == 6);
  // Of 9 B 6 are left. The last stage saves 5 ps for 4 B, which is more than 1 ps a byte, and comes first; of the 2 B
  // behind it nobody can make use.
  choice = {{1, 1, 1}, 15};
  spend_rest(stages, 9, choice);
  CHECK(choice.chosen == std::vector<std::size_t>{1, 1, 0});
}

TEST_CASE("watos: the search and the dynamic program find the least t_max of all choices") {
  std::uint64_t infeasible = 0;
  for (std::uint64_t index = 0; index < test::random_cases(10000); ++index) {
    CAPTURE(index);
    const KeyedRandom random(index, random_stream("watos: fronts"));
    const StageFronts stages = drawn_fronts(random);
    const std::int64_t pool = drawn_pool(random, stages);
    const std::optional<Time> least = least_of_all(stages, pool);
    const auto searched = coordinated(stages, pool), by_table = coordinated_by_table(stages, pool);
    REQUIRE(searched.has_value() == least.has_value());
    REQUIRE(by_table.has_value() == least.has_value());
    infeasible += least ? 0 : 1;
    if (!least) continue;
    for (const Coordinated& one : {*searched, *by_table}) {
      REQUIRE(one.slowest == *least);
      REQUIRE(slowest_of(stages, one) == *least);
      REQUIRE(memory_of(stages, one) <= pool);
      check_spending(stages, pool, one);
    }
  }
  // Some cannot be done, most can.
  CHECK(infeasible > test::random_cases(10000) / 20);
  CHECK(infeasible < test::random_cases(10000) / 2);
}

TEST_CASE("watos: options of a stage are the sets of its front, at the pace of its place, with what they take") {
  StageProblem stage = stage_over(0);
  stage.in_flight = 2;
  stage.at_once = 2;
  stage.kept = {60, 40, 20};
  stage.fixed = {10, 10, 10};
  stage.time = {{3, 4, 5}, {6, 8, 10}};
  stage.front = {0, 2};
  Problem problem = problem_of({stage}, 1, 1);
  problem.places[0].pace = 1;
  // Of 100 B: 10 + 2 x 60 are 30 B too many, 15 of each micro-batch, and a helper has two; 10 + 2 x 20 leave 50.
  const StageFronts fronts = fronts_of(problem, in_order(problem));
  REQUIRE(fronts.size() == 1);
  REQUIRE(fronts[0].size() == 2);
  CHECK(fronts[0][0].time == 6);
  CHECK(fronts[0][0].memory == 30);
  CHECK(fronts[0][1].time == 10);
  CHECK(fronts[0][1].memory == -50);
  // 15 B take 15 ps on a link that carries 2^20 B in 2^20 ps, and a collective comes after 4 ps: 11 there, 11 back.
  problem.per_mebibyte = 1 << 20;
  problem.stages[0].until_next = 4;
  CHECK(fronts_of(problem, in_order(problem))[0][0].time == 6 + 22);
  CHECK(fronts_of(problem, in_order(problem))[0][1].time == 10);
}
