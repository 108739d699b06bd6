// Ranks in one process have the windows and the events that so many processes have.
#include <catch2/catch.hpp>

#include "busy_program.hpp"
#include "random_rings.hpp"
#include "support/random_cases.hpp"
#include "support/world.hpp"

using namespace tessera;
using namespace tessera::test;

namespace {

void check_windows(const ProgramCase& made, Communicator& comm) {
  const sim::SimulationOptions options;
  const sim::SimulationResult real = made.run(comm, options);
  const auto virtually =
      sim::simulate_side_by_side(made.machine, made.program, PicosecondPerFlop(), comm.size(), options, {});
  const pdes::RunStatistics& mine = virtually.ranks[static_cast<std::size_t>(comm.rank())];
  CHECK(virtually.iteration_time == real.results.iteration_time);
  CHECK(mine.events == real.statistics.events);
  CHECK(mine.messages == real.statistics.messages);
  if (comm.size() > 1) CHECK(mine.rounds == real.statistics.rounds);
}

}  // namespace

TEST_CASE("a program with everything in it: windows of ranks in one process are those of processes") {
  World world;
  for (const machine::NodeId nodes : {2U, 4U}) check_windows(busy_program(nodes, 5), world.comm);
}

TEST_CASE("random programs: windows of ranks in one process are those of processes") {
  World world;
  for (std::uint64_t index = 0; index < random_cases(100, world.comm.size()); ++index) {
    CAPTURE(index);
    const ProgramCase made = random_rings(700'000 + index);
    if (made.machine.devices() >= static_cast<machine::NodeId>(world.comm.size())) check_windows(made, world.comm);
  }
}
