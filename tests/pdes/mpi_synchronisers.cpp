// The contract of the synchronisers: the same digests on any number of ranks, with any partition, as on one rank
// without MPI.
#include <catch2/catch.hpp>

#include "relay_model.hpp"

namespace {

using namespace tessera;
using namespace tessera::pdes;
using namespace tessera::pdes::test;

struct World {
  int argc = 0;
  char** argv = nullptr;
  MpiSession session{argc, argv};
  Communicator& comm = session.world();
};

void expect_same_as_serial(const ModelGraph& model, Communicator& comm) {
  const Outcome serial = run_serially(model);
  REQUIRE(serial.events > 1000);
  for (const std::string& synchroniser : synchroniser_kinds()) {
    for (const std::string partition : {"block", "metis"}) {
      INFO(synchroniser << " " << partition);
      RunOptions options;
      options.synchroniser = synchroniser;
      const Outcome parallel = run(model, make_partition(model, comm.size(), partition), comm, options);
      REQUIRE(parallel.events == serial.events);
      REQUIRE(parallel.digests == serial.digests);
    }
  }
}

TEST_CASE("a ring of groups gives the same digests on any number of ranks") {
  World world;
  expect_same_as_serial(relay_ring(24, 3, {}), world.comm);
}

TEST_CASE("so does a ring with a crossbar, where all pairs of ranks are neighbours") {
  World world;
  RelayRules rules;
  rules.crossbar = true;
  expect_same_as_serial(relay_ring(24, 2, rules), world.comm);
}

TEST_CASE("messages that do not fit into their events cross ranks whole") {
  World world;
  RelayRules rules;
  rules.parcels = true;
  expect_same_as_serial(relay_ring(24, 1, rules), world.comm);
}

}  // namespace
