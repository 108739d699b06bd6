// Candidates over ranks: the same results in the same order, however many ranks share them.
#include <algorithm>

#include <catch2/catch.hpp>

#include "support/world.hpp"
#include "tessera/base/error.hpp"
#include "tessera/program/search/evaluations.hpp"

using namespace tessera;
using program::Fidelity;
using program::search::Evaluations;
using program::search::Memo;

namespace {

/// A program that says which candidate it is, by its devices; candidates 100 and 101 are the same as 0.
program::Program numbered(std::size_t candidate) {
  program::Program program;
  program.devices.resize(candidate >= 100 ? 1 : candidate + 1);
  return program;
}

/// One that is worth all ranks.
program::Program long_one(std::size_t candidate) {
  program::Program program = numbered(candidate);
  program.operators.resize(1);
  program.blocks = {{"once", std::vector<program::Instruction>(1000)}, {"often", {}}};
  program::Instruction call;
  call.op = program::Op::call;
  call.count = 1000;
  program.blocks[1].code = {call};
  program.devices[0].streams = {1};
  return program;
}

/// Candidate i takes 1000 - i ps; every third cannot run.
class Counting final : public program::Evaluator {
 public:
  program::Evaluation evaluate(const program::Program& program, Fidelity, Communicator& team) override {
    if (team.rank() == 0) ++count;
    largest_team = std::max(largest_team, team.size());
    const auto number = static_cast<Time>(program.devices.size()) - 1;
    if (number % 3 == 2) return {false, "line one\nline two of " + std::to_string(number)};
    return {true, "", 1000 - number, {number * 10}};
  }
  [[nodiscard]] int most_ranks() const override { return 3; }
  std::int64_t count = 0;
  int largest_team = 0;
};

}  // namespace

TEST_CASE("candidates are evaluated once, and are the same in their order on all ranks") {
  test::World world;
  Communicator& comm = world.comm;
  for (const std::size_t count : {0U, 1U, 2U, 3U, 11U}) {
    Counting evaluator;
    Memo memo;
    const Evaluations evaluations(evaluator, comm, memo);
    for (int again = 0; again < 2; ++again) {
      const auto found = evaluations.all(count, numbered);
      REQUIRE(found.size() == count);
      for (std::size_t i = 0; i < count; ++i) {
        CAPTURE(count, i);
        const bool runs = i % 3 != 2;
        CHECK(found[i].feasible == runs);
        CHECK(found[i].time == (runs ? 1000 - static_cast<Time>(i) : 0));
        CHECK(found[i].most_memory() == (runs ? static_cast<std::int64_t>(i) * 10 : 0));
        CHECK(found[i].reason == (runs ? "" : "line one\nline two of " + std::to_string(i)));
      }
      CHECK(comm.sum(evaluator.count) == static_cast<std::int64_t>(count));
    }
  }
}

TEST_CASE("the same program is evaluated once, and what one rank knows all know") {
  test::World world;
  Counting evaluator;
  Memo memo;
  const Evaluations evaluations(evaluator, world.comm, memo);
  if (world.comm.rank() == world.comm.size() - 1) CHECK(evaluations.one(numbered(3)).time == 997);
  const auto found = evaluations.all(102, [](std::size_t i) { return numbered(i < 100 ? i % 5 : i); });
  CHECK(found[100].time == 1000);
  CHECK(found[98].time == 997);
  CHECK(world.comm.sum(evaluator.count) == 5);
  CHECK(memo.find(program::search::key_of(numbered(3), Fidelity::simulated)) != nullptr);
}

TEST_CASE("few long candidates have teams of ranks, as many as the evaluator can use") {
  test::World world;
  const int ranks = world.comm.size();
  Counting evaluator;
  Memo memo;
  const Evaluations evaluations(evaluator, world.comm, memo);
  CHECK(evaluations.all(1, long_one)[0].time == 1000);
  CHECK(world.comm.max(evaluator.largest_team) == std::min(ranks, 3));
  CHECK(world.comm.sum(evaluator.count) == 1);
  CHECK(evaluations.all(2, [](std::size_t i) { return long_one(i + 3); })[0].time == 997);
  CHECK(world.comm.sum(evaluator.count) == 3);
}

TEST_CASE("rank 0 says how far all ranks are together, in each phase") {
  test::World world;
  Counting evaluator;
  Memo memo;
  std::vector<program::search::Progress> said;
  const Evaluations evaluations(evaluator, world.comm, memo,
                                {{}, [&](const program::search::Progress& progress) { said.push_back(progress); }});
  static_cast<void>(evaluations.outlooks(5, [](std::size_t) { return program::Outlook{}; }));
  static_cast<void>(evaluations.all(8, numbered));
  if (world.comm.rank() != 0) {
    CHECK(said.empty());
    return;
  }
  REQUIRE_FALSE(said.empty());
  for (std::size_t i = 1; i < said.size(); ++i) {
    CHECK(said[i].phase >= said[i - 1].phase);
    CHECK((said[i].phase != said[i - 1].phase || said[i].done >= said[i - 1].done));
  }
  using program::search::Phase;
  for (const auto& [phase, of] : {std::pair{Phase::judging, 5U}, {Phase::writing, 8U}, {Phase::evaluating, 8U}}) {
    const auto last =
        std::ranges::find_if(said.rbegin(), said.rend(), [&](const auto& one) { return one.phase == phase; });
    REQUIRE(last != said.rend());
    CHECK(last->done == of);
    CHECK(last->of == of);
  }
  CHECK(said.back().best == 1000 - 7);
}

TEST_CASE("when time is over candidates are cut off, and nothing is kept of them") {
  test::World world;
  Counting evaluator;
  Memo memo;
  program::search::Limits none;
  none.seconds = 1e-9;
  const Evaluations evaluations(evaluator, world.comm, memo, {}, none);
  CHECK(evaluations.is_over_somewhere());
  for (const program::Evaluation& one : evaluations.all(8, numbered)) {
    CHECK(one.cut_off);
    CHECK(one.time == 0);
  }
  for (const program::Outlook& one : evaluations.outlooks(7, [](std::size_t) { return program::Outlook{}; }))
    CHECK_FALSE(one.is_known);
  CHECK(world.comm.sum(evaluator.count) == 0);
  CHECK(memo.added().empty());
}

TEST_CASE("time that is long enough changes no result, whatever is looked at first") {
  test::World world;
  Counting evaluator;
  Memo memo;
  program::search::Limits hour;
  hour.seconds = 3600;
  const Evaluations evaluations(evaluator, world.comm, memo, {}, hour);
  for (const std::size_t count : {0U, 1U, 2U, 13U, 100U}) {
    const auto found = evaluations.outlooks(count, [](std::size_t i) {
      program::Outlook one;
      one.least = static_cast<Time>(i) + 1;
      return one;
    });
    REQUIRE(found.size() == count);
    for (std::size_t i = 0; i < count; ++i) CHECK(found[i].least == static_cast<Time>(i) + 1);
  }
}

TEST_CASE("what was evaluated before a search is interrupted stays known") {
  test::World world;
  Counting evaluator;
  Memo memo;
  const Evaluations evaluations(evaluator, world.comm, memo, {[&] { return evaluator.count == 2; }, {}});
  const auto ranks = static_cast<std::size_t>(world.comm.size());
  CHECK_THROWS_WITH(evaluations.all(4 * ranks, numbered), "the search was interrupted");
  CHECK(memo.added().size() == 2);
  const Evaluations again(evaluator, world.comm, memo);
  static_cast<void>(again.all(4 * ranks, numbered));
  CHECK(world.comm.sum(evaluator.count) == static_cast<std::int64_t>(4 * ranks));
}

TEST_CASE("what one rank throws about a candidate all ranks throw") {
  test::World world;
  Counting evaluator;
  Memo memo;
  const Evaluations evaluations(evaluator, world.comm, memo);
  const auto make = [](std::size_t candidate) {
    if (candidate == 4) throw InputError("candidate 4 has no program");
    return numbered(candidate);
  };
  CHECK_THROWS_WITH(evaluations.all(7, make), "candidate 4 has no program");
  bool stop = world.comm.rank() == world.comm.size() - 1;
  const Evaluations stopped(evaluator, world.comm, memo, {[&] { return stop; }, {}});
  CHECK_THROWS_WITH(stopped.all(20, [](std::size_t i) { return numbered(i + 40); }), "the search was interrupted");
  CHECK_THROWS_WITH(stopped.all(1, [](std::size_t) { return long_one(70); }), "the search was interrupted");  // a team
}
