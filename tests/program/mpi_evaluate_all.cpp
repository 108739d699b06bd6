// Candidates over ranks: the same results in the same order, however many ranks share them.
#include <catch2/catch.hpp>

#include "tessera/base/error.hpp"
#include "tessera/program/evaluate_all.hpp"

using namespace tessera;

namespace {

/// A program that says which candidate it is.
program::Program numbered(std::size_t candidate) {
  program::Program program;
  program.devices.resize(candidate + 1);
  return program;
}

/// Candidate i takes 1000 - i ps; every third cannot run.
class Counting final : public program::Evaluator {
 public:
  program::Evaluation evaluate(const program::Program& program) override {
    ++count;
    const auto number = static_cast<Time>(program.devices.size()) - 1;
    if (number % 3 == 2) return {false, "line one\nline two of " + std::to_string(number), 0, 0};
    return {true, "", 1000 - number, number * 10};
  }
  std::int64_t count = 0;
};

struct World {
  int argc = 0;
  char** argv = nullptr;
  MpiSession session{argc, argv};
  Communicator& comm = session.world();
};

}  // namespace

TEST_CASE("candidates are evaluated once, and are the same in their order on all ranks") {
  World world;
  Communicator& comm = world.comm;
  for (const std::size_t count : {0U, 1U, 2U, 3U, 11U}) {
    Counting evaluator;
    const auto found = program::evaluate_all(evaluator, comm, count, numbered);
    REQUIRE(found.size() == count);
    for (std::size_t i = 0; i < count; ++i) {
      CAPTURE(count, i);
      const bool runs = i % 3 != 2;
      CHECK(found[i].feasible == runs);
      CHECK(found[i].time == (runs ? 1000 - static_cast<Time>(i) : 0));
      CHECK(found[i].peak_memory == (runs ? static_cast<std::int64_t>(i) * 10 : 0));
      CHECK(found[i].reason == (runs ? "" : "line one\nline two of " + std::to_string(i)));
    }
    CHECK(comm.sum(evaluator.count) == static_cast<std::int64_t>(count));
  }
}

TEST_CASE("what one rank throws about a candidate all ranks throw") {
  World world;
  Counting evaluator;
  const auto make = [](std::size_t candidate) {
    if (candidate == 4) throw InputError("candidate 4 has no program");
    return numbered(candidate);
  };
  CHECK_THROWS_WITH(program::evaluate_all(evaluator, world.comm, 7, make), "candidate 4 has no program");
}
