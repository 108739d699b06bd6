// The contract of the synchronisers: the same digests on any number of ranks, with any partition, as on one rank
// without MPI.
#include <catch2/catch.hpp>

#include "relay_model.hpp"
#include "support/world.hpp"

namespace {

using namespace tessera;
using namespace tessera::pdes;
using namespace tessera::pdes::test;

void expect_same_as_serial(const ModelGraph& model, Communicator& comm, std::uint64_t least_events) {
  const Outcome serial = run_serially(model);
  REQUIRE(serial.events > least_events);
  for (const std::string& synchroniser : synchroniser_kinds()) {
    for (const std::string& partition : partition_kinds()) {
      if (partition == "tile" && model.positions.empty()) continue;
      INFO(synchroniser << " " << partition);
      RunOptions options;
      options.synchroniser = synchroniser;
      const Outcome parallel = run(model, make_partition(model, comm.size(), partition), comm, options);
      REQUIRE(parallel.events == serial.events);
      REQUIRE(parallel.digests == serial.digests);
    }
  }
}

}  // namespace

TEST_CASE("a ring of groups gives the same digests on any number of ranks") {
  tessera::test::World world;
  expect_same_as_serial(relay_ring(24, 3, {}), world.comm, 2'000);
}

TEST_CASE("so does a ring with a crossbar, where all pairs of ranks are neighbours") {
  tessera::test::World world;
  RelayRules rules;
  rules.crossbar = true;
  expect_same_as_serial(relay_ring(24, 2, rules), world.comm, 2'000);
}

TEST_CASE("so does one with thousands of events at each time") {
  tessera::test::World world;
  RelayRules rules;
  rules.tasks = 200;
  rules.hops = 10;
  ModelGraph model = relay_ring(48, 1, rules);
  for (int id = 0; id < 48; ++id) model.positions.emplace_back(id % 8, id / 8);
  expect_same_as_serial(model, world.comm, 50'000);
}

TEST_CASE("messages that do not fit into their events cross ranks whole") {
  tessera::test::World world;
  RelayRules rules;
  rules.parcels = true;
  expect_same_as_serial(relay_ring(24, 1, rules), world.comm, 2'000);
}

TEST_CASE("links of 1 ps: null messages agree as often as windows do, and not on each picosecond") {
  tessera::test::World world;
  RelayRules rules;
  rules.latency = 1;
  rules.step = 1'000'000;
  const ModelGraph model = relay_ring(24, 3, rules);
  expect_same_as_serial(model, world.comm, 2'000);
  if (world.comm.size() == 1) return;
  std::uint64_t rounds[2] = {};
  for (const bool sends_nulls : {false, true}) {
    RunOptions options;
    options.synchroniser = sends_nulls ? "null-message" : "window";
    rounds[sends_nulls ? 1 : 0] =
        run(model, make_partition(model, world.comm.size(), "block"), world.comm, options).statistics.rounds;
  }
  // Eight waves to each agreement until it is known that waves do not help: some that are short of an agreement, and
  // others where events lie within a few picoseconds of each other.
  CHECK(rounds[1] <= 2 * rounds[0] + 64);
}

TEST_CASE("ranks that share no links finish together") {
  tessera::test::World world;
  static constexpr std::uint32_t count = 8;
  RelayRules rules;
  ModelGraph model = relay_ring(count, 1, rules);
  model.links.clear();
  model.unconnected_allowed = true;
  model.create = [rules](ComponentId id) {
    return std::make_unique<RelayComponent>(id, 0, count, std::vector<Time>{}, rules);
  };
  expect_same_as_serial(model, world.comm, 500);
}

TEST_CASE("the end of a run is the same everywhere") {
  tessera::test::World world;
  const ModelGraph model = relay_ring(24, 3, {});
  for (const std::string& synchroniser : synchroniser_kinds()) {
    RunOptions options;
    options.synchroniser = synchroniser;
    options.end = 3'000;
    const Outcome serial = run_serially(model, options);
    const Outcome parallel = run(model, make_partition(model, world.comm.size(), "block"), world.comm, options);
    REQUIRE(parallel.digests == serial.digests);
    REQUIRE(parallel.statistics.last_event < 3'000);
  }
}

TEST_CASE("a run can be continued to a later end") {
  tessera::test::World world;
  const ModelGraph model = relay_ring(24, 3, {});
  const Outcome serial = run_serially(model);
  for (const std::string& synchroniser : synchroniser_kinds()) {
    Simulation simulation(model, make_partition(model, world.comm.size(), "block"), world.comm);
    RunOptions options;
    options.synchroniser = synchroniser;
    for (const Time end : {Time{1'000}, Time{4'000}, never}) {
      options.end = end;
      simulation.run(options);
    }
    for (std::size_t k = 0; k < simulation.local_ids().size(); ++k) {
      const auto& relay = dynamic_cast<RelayComponent&>(simulation.local(k));
      REQUIRE(static_cast<std::int64_t>(relay.digest()) == serial.digests[simulation.local_ids()[k]]);
    }
  }
}
