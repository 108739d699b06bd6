// The trains of src/sim give the times of the plain packet-by-packet simulation, to the picosecond, and its queues.
#include <catch2/catch.hpp>

#include "random_traffic.hpp"
#include "support/random_cases.hpp"

using namespace tessera;
using test::random_case;

namespace {

void check_equal(const test::TrafficResult& result, const test::TrafficResult& expected) {
  REQUIRE(result.delivered == expected.delivered);
  for (std::size_t link = 0; link < expected.departures.size(); ++link) {
    CAPTURE(link);
    REQUIRE(result.departures[link].size() == expected.departures[link].size());
    for (std::size_t i = 0; i < expected.departures[link].size(); ++i) {
      CAPTURE(i);
      REQUIRE(result.departures[link][i].message == expected.departures[link][i].message);
      REQUIRE(result.departures[link][i].time == expected.departures[link][i].time);
    }
  }
  REQUIRE(result.busy == expected.busy);
  REQUIRE(result.peak_queue == expected.peak_queue);
}

}  // namespace

TEST_CASE("random traffic: every message arrives when the packet-by-packet reference says") {
  for (std::uint64_t index = 0; index < test::random_cases(2000); ++index) {
    CAPTURE(index);
    const test::RandomCase made = random_case(index);
    const test::TrafficResult expected = test::run_reference(made.network, made.messages);
    check_equal(test::run_traffic(made.network, made.messages).result, expected);
    check_equal(test::run_traffic(made.network, made.messages, true).result, expected);
  }
}

TEST_CASE("random traffic of long messages: times and queues are those of the packet-by-packet reference") {
  for (std::uint64_t index = 0; index < test::random_cases(150); ++index) {
    CAPTURE(index);
    const test::RandomCase made = random_case(300'000 + index, 30);
    check_equal(test::run_traffic(made.network, made.messages).result,
                test::run_reference(made.network, made.messages));
  }
}
