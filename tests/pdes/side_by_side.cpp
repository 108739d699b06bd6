// Ranks in one process: digests of the serial run, and errors as on several processes.
#include "tessera/pdes/side_by_side.hpp"

#include <catch2/catch.hpp>

#include "actors.hpp"
#include "relay_model.hpp"

namespace {

using namespace tessera;
using namespace tessera::pdes;
using namespace tessera::pdes::test;

std::vector<RunStatistics> play(const ModelGraph& model, int ranks) {
  const Partition partition = make_partition(model, ranks, "block");
  std::vector<std::unique_ptr<Communicator>> comms;
  std::vector<std::unique_ptr<Simulation>> simulations;
  std::vector<Simulation*> all;
  for (int rank = 0; rank < ranks; ++rank) {
    comms.push_back(make_virtual_rank(rank, ranks));
    simulations.push_back(std::make_unique<Simulation>(model, partition, *comms.back()));
    all.push_back(simulations.back().get());
  }
  return SideBySide(all).run({});
}

/// Promises that nothing is ever sent.
class Careless final : public Foresight {
 public:
  void comes(const Event&) override {}
  [[nodiscard]] Time earliest_unprompted(Time, Time) override { return never; }
};

}  // namespace

TEST_CASE("ranks in one process handle the events of a serial run") {
  for (const bool parcels : {false, true}) {
    RelayRules rules;
    rules.parcels = parcels;
    const ModelGraph model = relay_ring(24, 3, rules);
    const std::uint64_t events = static_cast<std::uint64_t>(run_serially(model).events);
    for (const int ranks : {1, 2, 5, 8}) {
      std::uint64_t all = 0;
      for (const RunStatistics& rank : play(model, ranks)) all += rank.events;
      CHECK(all == events);
    }
  }
}

TEST_CASE("an error of a component in one of the ranks is that of a serial run") {
  RelayRules rules;
  rules.failing = 7;
  rules.fails_at = 1000;
  const ModelGraph model = relay_ring(24, 3, rules);
  std::string serial;
  try {
    static_cast<void>(run_serially(model));
  } catch (const Error& error) {
    serial = error.what();
  }
  REQUIRE_FALSE(serial.empty());
  for (const int ranks : {2, 5}) CHECK_THROWS_WITH(play(model, ranks), serial);
}

TEST_CASE("a rank that sends earlier than it foresaw is found out") {
  std::vector<Script> scripts(2);
  scripts[0].start = [](Context& context) { context.schedule(100, Word{}); };
  scripts[0].handle = [](Context& context, const Event&) { context.send(OutPort{0}, context.now() + 10, Word{}); };
  scripts[1].handle = [](Context&, const Event&) {};
  ModelGraph model = actors(scripts, {{0, 1, 10}, {1, 0, 10}});
  CHECK_NOTHROW(play(model, 2));
  Careless careless;
  model.foresight = &careless;
  CHECK_THROWS_WITH(play(model, 2), Catch::Contains("promised nothing before"));
}
