// Algorithm 3 die by die: which dies hold what the dies of a stage lend, by hand and for drawn problems.
#include <catch2/catch.hpp>

#include "program/machines.hpp"
#include "strategy/watos/allocation.hpp"
#include "strategy/watos/die_loans.hpp"
#include "support/random_cases.hpp"
#include "watos_problems.hpp"

using namespace tessera;
using namespace tessera::strategy::watos;

namespace {

/// "0>2 15: 2-1" by loan: stages, bytes, lenders and helpers.
std::string text_of(const std::vector<DieLoan>& loans) {
  std::string text;
  for (const DieLoan& loan : loans) {
    text += (text.empty() ? "" : "; ") + std::to_string(loan.pair.sender) + ">" + std::to_string(loan.pair.helper) +
            " " + std::to_string(loan.bytes) + ":";
    for (std::size_t i = 0; i < loan.lenders.size(); ++i)
      text += " " + std::to_string(loan.lenders[i]) + "-" + std::to_string(loan.helpers[i]);
  }
  return text;
}

/// Tiles of so many columns and rows on a wafer, by rows.
std::vector<Place> tiles_of(int columns, int rows, int tile_columns, int tile_rows) {
  std::vector<Place> places;
  for (int y = 0; y + tile_rows <= rows; y += tile_rows) {
    for (int x = 0; x + tile_columns <= columns; x += tile_columns) {
      Place place;
      for (int i = 0; i < tile_columns * tile_rows; ++i)
        place.devices.push_back(static_cast<machine::NodeId>((y + i / tile_columns) * columns + x + i % tile_columns));
      place.x = 2 * x + tile_columns - 1;
      place.y = 2 * y + tile_rows - 1;
      places.push_back(place);
    }
  }
  return places;
}

/// Stages of two dies each, and places for them side by side on a row.
Problem pairs_on_a_row(std::vector<StageProblem> stages) {
  Problem problem = problem_of(std::move(stages), 1, 1);
  problem.places = tiles_of(static_cast<int>(2 * problem.count()), 1, 2, 1);
  return problem;
}

std::string dealt(const Problem& problem, const Solution& solution) {
  const machine::Machine wafer = program::mesh_of(static_cast<int>(2 * problem.places.size()), 1);
  return text_of(die_loans(problem, solution, lend(problem, solution).loans, wafer));
}

/// What is wrong with loans; empty: nothing.
std::string problem_of_loans(const Problem& problem, const Solution& solution, const std::vector<DieLoan>& loans) {
  std::map<machine::NodeId, std::int64_t> lent, room;
  std::map<Pair, std::int64_t> between;
  std::map<machine::NodeId, std::pair<std::size_t, std::uint32_t>> stands;  // stage and replica of a die
  for (std::size_t stage = 0; stage < problem.count(); ++stage)
    for (std::uint32_t replica = 0; replica < problem.replicas; ++replica)
      for (const machine::NodeId die : problem.places[solution.place(problem, stage, replica)].devices)
        stands[die] = {stage, replica};
  for (const DieLoan& loan : loans) {
    std::set<machine::NodeId> once;
    for (std::size_t i = 0; i < loan.lenders.size(); ++i) {
      const machine::NodeId from = loan.lenders[i], to = loan.helpers[i];
      if (!once.insert(from).second || !once.insert(to).second) return "a die twice";
      if (stands.at(from).first != loan.pair.sender || stands.at(to).first != loan.pair.helper) return "another stage";
      if (stands.at(from).second != stands.at(to).second) return "another replica";
      lent[from] += loan.bytes;
      room[to] += loan.bytes * problem.stages[loan.pair.sender].at_once;
      between[loan.pair] += loan.bytes;
    }
  }
  for (const auto& [die, where] : stands) {
    const std::size_t stage = where.first;
    if (lent[die] != to_lend(problem, stage, solution.sets[stage])) return "a die lends too little or too much";
    if (room[die] > 0 && room[die] > -demand(problem, stage, solution.sets[stage])) return "a die has no such room";
  }
  for (const PairedBytes& loan : lend(problem, solution).loans) {
    const auto dies = static_cast<std::int64_t>(problem.places[0].devices.size()) * problem.replicas;
    if (between[loan.pair] != dies * loan.bytes) return "a stage gives another one too little or too much";
  }
  return "";
}

/// Stages of four dies, two replicas, on a wafer of 8 x 8; who lends and how much is drawn.
Problem drawn_on_tiles(std::uint64_t key) {
  const KeyedRandom random(key, random_stream("watos: die loans"));
  std::uint64_t next = 0;
  std::vector<StageProblem> stages;
  constexpr std::uint64_t most = 4000;
  for (int stage = 0; stage < 6; ++stage) {
    const auto bytes = static_cast<std::int64_t>(random.below(next++, most));
    stages.push_back(stage_over(random.below(next++, 2) == 0 ? bytes / 8 : -bytes));
    stages.back().at_once = 1 + static_cast<std::int64_t>(random.below(next++, 3));
    stages.back().kept = {most};
    stages.back().fixed = {stages.back().fixed[0] + 60 + 5 * static_cast<std::int64_t>(most)};
  }
  Problem problem = problem_of(std::move(stages), 1, 1);
  problem.memory = 100 + 6 * static_cast<std::int64_t>(most);
  problem.replicas = 2;
  problem.places = tiles_of(8, 8, 2, 2);
  return problem;
}

}  // namespace

TEST_CASE("watos: by hand, two senders and three helpers of two dies each") {
  // On a row: stage 2 (15 B to spare) on dies 0 and 1, stage 0 (lacks 30 B) on 2 and 3, stage 3 (25 B) on 4 and 5,
  // stage 1 (lacks 20 B) on 6 and 7, stage 4 (40 B) on 8 and 9.
  const Problem problem =
      pairs_on_a_row({stage_over(30), stage_over(20), stage_over(-15), stage_over(-25), stage_over(-40)});
  Solution solution = in_order(problem);
  solution.places = {1, 3, 0, 2, 4};
  solution.pairs = paired_by_location(Judge(problem, Fitness::product), solution);
  CHECK(lend(problem, solution).loans ==
        std::vector<PairedBytes>{{{0, 2}, 15}, {{0, 3}, 15}, {{1, 3}, 10}, {{1, 4}, 10}});
  // No die has room for all 30 B of one of stage 0. Die 2 is beside die 1, which takes 15 B, and die 0 takes the rest;
  // so stage 2 has given its share. Die 3 gives 25 B to die 4 and 5 B to die 5, where 20 B are left: as much as die 6
  // has to lend. Die 7 gives all to die 8.
  CHECK(dealt(problem, solution) == "0>2 15: 2-1; 0>3 25: 3-4; 0>2 15: 2-0; 0>3 5: 3-5; 1>3 20: 6-5; 1>4 20: 7-8");
}

TEST_CASE("watos: by hand, dies lend alike where all has room nearby, and all alike where bytes do not come out even") {
  // 10 B each, 25 B to spare on each die of a helper: both dies of stage 0 lend to the near one, die 2, whose second
  // piece is a loan of its own, since a die is once in each.
  const Problem near = pairs_on_a_row({stage_over(10), stage_over(-25)});
  Solution solution = in_order(near);
  solution.pairs = {{0, 1}};
  CHECK(dealt(near, solution) == "0>1 10: 1-2; 0>1 10: 0-2");
  // Room for one: the other one goes to die 3.
  const Problem alike = pairs_on_a_row({stage_over(10), stage_over(-15)});
  CHECK(dealt(alike, solution) == "0>1 10: 1-2 0-3");
  // Stages 0 and 2 lend 5 and 3 B, the latter of two micro-batches at once; between them stage 1 has 11 B to spare. Die
  // 2 would hold 10 B of stage 0, and die 3 has room for 5 x 2 B: one B of stage 2 would stay. So nothing is dealt out.
  Problem odd = pairs_on_a_row({stage_over(5), stage_over(-11), stage_over(3)});
  odd.stages[2].at_once = 2;
  solution = in_order(odd);
  solution.pairs = {{0, 1}, {2, 1}};
  REQUIRE(lend(odd, solution).is_enough);
  CHECK(dealt(odd, solution).empty());
}

TEST_CASE("watos: drawn, dies lend what their stage has to, to dies with room, between stages as much as is said") {
  const machine::Machine wafer = program::mesh_of(8, 8);
  int dealt_out = 0, uneven = 0;
  for (std::uint64_t key = 0; key < test::random_cases(200); ++key) {
    const Problem problem = drawn_on_tiles(key);
    Solution solution = in_order(problem);
    shuffle(solution.places, KeyedRandom(key, random_stream("watos: places")));
    solution.pairs = paired_by_location(Judge(problem, Fitness::product), solution);
    const Lent lent = lend(problem, solution);
    if (!lent.is_enough || lent.loans.empty()) continue;
    const std::vector<DieLoan> loans = die_loans(problem, solution, lent.loans, wafer);
    ++(loans.empty() ? uneven : dealt_out);
    if (loans.empty()) continue;
    CAPTURE(key, text_of(loans));
    CHECK(problem_of_loans(problem, solution, loans).empty());
  }
  CHECK(dealt_out > 4 * uneven);
}
