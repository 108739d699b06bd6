// The simulator behind a search: any number of ranks in teams, the same evaluations.
#include <catch2/catch.hpp>

#include "busy_program.hpp"
#include "support/world.hpp"
#include "tessera/base/error.hpp"
#include "tessera/program/search/evaluations.hpp"
#include "tessera/sim/simulate.hpp"

using namespace tessera;
using namespace tessera::test;
using program::Fidelity;
using program::search::Evaluations;
using program::search::Memo;

namespace {

void check_equal(const program::Evaluation& a, const program::Evaluation& b) {
  CHECK(a.feasible == b.feasible);
  CHECK(a.reason == b.reason);
  CHECK(a.time == b.time);
  CHECK(a.peak_memory == b.peak_memory);
  CHECK(a.busy == b.busy);
  CHECK(a.link_bytes == b.link_bytes);
}

/// Five candidates on one machine: rounds of a program with everything in it, one that waits for ever, and one that
/// does not fit.
program::Program candidate(std::size_t index, const ProgramCase& busy) {
  if (index < 3) return busy_program(2, static_cast<std::uint32_t>(index) + 1).program;
  ProgramCase made(busy.machine.devices());
  if (index == 3) {
    made.bind(0, {made.block("zero").receive(1, Bytes{1}).done()});
    made.bind(1, {made.block("one").receive(0, Bytes{1}).done()});
  } else {
    made.bind(0, {made.block("full").allocate(program::MemoryCategory::weights, Bytes{std::int64_t{1} << 60}).done()});
  }
  return made.program;
}

}  // namespace

TEST_CASE("evaluations by teams of ranks are those of one rank") {
  World world;
  const ProgramCase busy = busy_program(2, 1);
  const PicosecondPerFlop cost;
  const auto evaluator = sim::make_evaluator(busy.machine, cost);
  const auto alone = make_serial_communicator();
  const auto make = [&](std::size_t index) { return candidate(index, busy); };
  for (const Fidelity fidelity : {Fidelity::lower_bound, Fidelity::estimate, Fidelity::simulated}) {
    std::vector<program::Evaluation> expected;
    for (std::size_t i = 0; i < 5; ++i) expected.push_back(evaluator->evaluate(make(i), fidelity, *alone));
    CHECK(expected[0].feasible);
    CHECK_FALSE(expected[4].feasible);
    // In turn: with one rank each, and with all ranks as one team.
    Memo memo;
    const auto found = Evaluations(*evaluator, world.comm, memo).all(5, make, fidelity);
    for (std::size_t i = 0; i < 5; ++i) {
      CAPTURE(i, program::name_of(fidelity));
      check_equal(found[i], expected[i]);
      if (world.comm.size() <= evaluator->most_ranks())
        check_equal(evaluator->evaluate(make(i), fidelity, world.comm), expected[i]);
    }
  }
}

TEST_CASE("a simulation that is cut off has reached no more than the whole takes, and more the later it is") {
  World world;
  const ProgramCase busy = busy_program(2, 20);
  const PicosecondPerFlop cost;
  if (world.comm.size() > static_cast<int>(busy.machine.devices())) return;
  for (const sim::Laws laws : {sim::Laws::none, sim::Laws::trains, sim::Laws::rings, sim::Laws::all}) {
    sim::SimulationOptions options;
    options.laws = laws;
    const Time whole = simulate(busy.machine, busy.program, cost, world.comm, options).results.iteration_time;
    Time before = 0;
    int cut = 0;
    bool has_ended = false;
    for (int polls = 1; polls <= 1 << 20 && !has_ended; polls *= 2) {
      int left = polls;
      options.run.is_over = [&left] { return --left < 0; };
      const sim::SimulationResult found = simulate(busy.machine, busy.program, cost, world.comm, options);
      CAPTURE(laws.has(sim::Law::trains), laws.has(sim::Law::rings), laws.has(sim::Law::rounds), polls);
      has_ended = !found.statistics.cut_off;
      cut += has_ended ? 0 : 1;
      CHECK(found.results.iteration_time <= whole);
      CHECK(found.results.iteration_time >= before);
      if (has_ended) CHECK(found.results.iteration_time == whole);
      before = found.results.iteration_time;
    }
    CHECK(has_ended);
    if (laws == sim::Laws::none) CHECK(cut > 0);  // thousands of events, and a poll every 1,024
  }
}

TEST_CASE("an evaluation that is cut off says how far it came, and nothing is kept of it") {
  World world;
  const ProgramCase busy = busy_program(2, 20);
  const PicosecondPerFlop cost;
  const auto evaluator = sim::make_evaluator(busy.machine, cost, {{}, [] { return true; }, {}});
  const auto alone = make_serial_communicator();
  const program::Evaluation found = evaluator->evaluate(busy.program, Fidelity::simulated, *alone);
  if (!found.cut_off) return;  // where laws leave so little to do that nobody asks
  CHECK_FALSE(found.feasible);
  CHECK(found.reason == "not finished");
  Memo memo;
  static_cast<void>(Evaluations(*evaluator, *alone, memo).one(busy.program));
  CHECK(memo.added().empty());
}
