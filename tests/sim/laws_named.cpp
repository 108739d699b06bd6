// Laws by name, and what becomes of each.
#include <catch2/catch.hpp>

#include "program_case.hpp"
#include "tessera/base/error.hpp"

using namespace tessera;
using namespace tessera::test;

namespace {

ProgramCase plain() {
  ProgramCase made(2);
  made.bind(0, {made.block().compute(work(1)).done()});
  return made;
}

std::string because(const ProgramCase& made, const sim::SimulationOptions& options, int ranks, const std::string& law) {
  for (const results::LawUse& use : sim::uses_of_laws(made.machine, made.program, options, ranks))
    if (use.name == law) return use.is_used ? "used" : use.because;
  return "there is none";
}

}  // namespace

TEST_CASE("laws by name: the words of before, and any of them with what they stand on") {
  CHECK(sim::laws_named("all") == sim::Laws::all);
  CHECK(sim::laws_named("none") == sim::Laws::none);
  CHECK(sim::laws_named("trains") == sim::Laws::trains);
  CHECK(sim::laws_named("rings") == sim::Laws::rings);
  CHECK(sim::laws_named("rings, rounds,promises, fold") == sim::Laws::all);
  CHECK(sim::laws_named("rounds") == sim::Laws::none.with(sim::Law::trains).with(sim::Law::rounds));
  CHECK(sim::laws_named("promises") == sim::Laws::none.with(sim::Law::promises));
  CHECK_THROWS_AS(sim::laws_named("ring"), InputError);
  CHECK_THROWS_AS(sim::laws_named(""), InputError);
  CHECK_THROWS_AS(sim::laws_named("trains, all"), InputError);
}

TEST_CASE("laws: each says why it is not used") {
  ProgramCase made = plain();
  sim::SimulationOptions options;
  CHECK(because(made, options, 1, "trains") == "used");
  CHECK(because(made, options, 1, "rings") == "used");
  CHECK(because(made, options, 1, "rounds") == "the program has no loop");
  CHECK(because(made, options, 1, "fold") == "the program names no parts that are alike");
  CHECK(because(made, options, 1, "promises") == "one rank");
  CHECK(because(made, options, 2, "promises") == "used");
  CHECK(because(made, options, 2, "rounds") == "more than one rank");
  options.record_timeline = true;
  CHECK(because(made, options, 1, "rounds") == "the program has no loop");
  options.record_memory = true;
  CHECK(because(made, options, 1, "rounds") == "the memory over time is recorded");
  options.laws = sim::Laws::none.with(sim::Law::promises);
  CHECK(because(made, options, 2, "trains") == "not asked for");
  CHECK(because(made, options, 2, "rings") == "not asked for");
}
