// The trains of src/sim give the times of the plain packet-by-packet simulation, to the picosecond.
#include <catch2/catch.hpp>

#include "random_traffic.hpp"

using namespace tessera;
using test::random_case;

TEST_CASE("random traffic: every message arrives when the packet-by-packet reference says") {
  for (std::uint64_t index = 0; index < 2000; ++index) {
    CAPTURE(index);
    const test::RandomCase made = random_case(index);
    const test::TrafficResult expected = test::run_reference(made.network, made.messages);
    const test::TrafficRun run = test::run_traffic(made.network, made.messages);
    REQUIRE(run.result.delivered == expected.delivered);
    for (std::size_t link = 0; link < expected.departures.size(); ++link) {
      CAPTURE(link);
      REQUIRE(run.result.departures[link].size() == expected.departures[link].size());
      for (std::size_t i = 0; i < expected.departures[link].size(); ++i) {
        CAPTURE(i);
        REQUIRE(run.result.departures[link][i].message == expected.departures[link][i].message);
        REQUIRE(run.result.departures[link][i].time == expected.departures[link][i].time);
      }
    }
    REQUIRE(run.result.busy == expected.busy);
  }
}
