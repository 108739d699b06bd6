// Activities and categories of memory that a strategy brings, from the program to the results.
#include <catch2/catch.hpp>

#include "program_case.hpp"

using namespace tessera;
using namespace tessera::test;

TEST_CASE("time and memory of a strategy's own names stand behind those that every run has") {
  ProgramCase made(1);
  const program::Activity reload = program::activity_named(made.program, "sram_reload");
  const program::MemoryCategory lent = program::category_named(made.program, "lent");
  made.bind(0, {made.block()
                    .allocate(lent, Bytes{70})
                    .allocate(program::MemoryCategory::weights, Bytes{10})
                    .compute(work(100))
                    .activity(reload)
                    .compute(work(40))
                    .release(lent, Bytes{70})
                    .done()});
  const results::RunResults results = made.run().results;
  REQUIRE(results.activities.size() == 14);
  CHECK(results.activities[0] == "forward");
  CHECK(results.activities[12] == "idle");
  CHECK(results.activities[13] == "sram_reload");
  REQUIRE(results.device_rows.size() == 1);
  CHECK(results.device_rows[0].activity[0] == 100);
  CHECK(results.device_rows[0].activity[13] == 40);
  REQUIRE(results.categories.size() == 7);
  CHECK(results.categories[6] == "lent");
  REQUIRE(results.memory_rows.size() == 7);
  CHECK(results.memory_rows[6].at_peak == 70);
  CHECK(results.memory_rows[0].at_peak == 10);
  CHECK(results.device_rows[0].peak_memory == 80);
  const PicosecondPerFlop cost;
  const auto alone = make_serial_communicator();
  for (const auto fidelity : {program::Fidelity::lower_bound, program::Fidelity::simulated}) {
    const auto evaluation = sim::make_evaluator(made.machine, cost)->evaluate(made.program, fidelity, *alone);
    CHECK(evaluation.busy_of(0, reload) == 40);
    CHECK(evaluation.most_memory() == 80);
  }
}

TEST_CASE("memory of a strategy's own that does not fit is named") {
  ProgramCase made(1);
  const program::MemoryCategory lent = program::category_named(made.program, "lent_memory");
  made.bind(0, {made.block().allocate(lent, Bytes{1'200'000}).done()});
  CHECK(made.refusal().find("lent memory 1.20 MB") != std::string::npos);
}
