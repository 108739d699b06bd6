// Memories that operators and messages share, on any number of ranks.
#include <catch2/catch.hpp>

#include "random_replicas.hpp"
#include "random_rings.hpp"
#include "same_on_ranks.hpp"
#include "shared_memory_case.hpp"
#include "support/random_cases.hpp"
#include "support/world.hpp"

using namespace tessera;
using namespace tessera::test;

TEST_CASE("shared memory: the rows of several ranks are those of one") {
  World world;
  for (std::uint64_t index = 0; index < random_cases(20, world.comm.size()); ++index) {
    const std::uint64_t key = 890'000 + index;
    const ProgramCase made = sharing_memory(
        index, index % 2 == 0 ? random_rings(key) : random_replicas_on(site_kinds[index / 2 % site_kinds.size()], key));
    if (made.machine.devices() < static_cast<machine::NodeId>(world.comm.size())) continue;
    sim::SimulationOptions options;
    options.record_timeline = true;
    const results::RunResults serial = made.run(options).results;
    for (const std::string& synchroniser : pdes::synchroniser_kinds()) {
      CAPTURE(index, synchroniser);
      options.run.synchroniser = synchroniser;
      check_same_on_ranks(made.run(world.comm, options).results, serial, world.comm);
    }
  }
}
