// Which waiting packet a link sends next: hand-solved, and what holds for every policy.
#include <catch2/catch.hpp>

#include <map>

#include "program_case.hpp"
#include "random_rings.hpp"
#include "random_traffic.hpp"
#include "support/random_cases.hpp"
#include "tessera/sim/network/arbitration.hpp"

using namespace tessera;
using namespace tessera::test;

namespace {

constexpr std::int64_t fast_link = 4'000'000'000, slow_link = 1'000'000'000;  // B/s: 250 and 1,000 ps a byte
constexpr std::int64_t whole_packet = 100;

/// Devices 0 and 1 send through a switch to device 2.
machine::Network fan_in(const std::string& arbitration) {
  machine::NetworkBuilder builder(3);
  const std::uint16_t type = builder.link_class("wire");
  const machine::NodeId middle = builder.add_switch("switch");
  builder.add_link(0, middle, BytesPerSecond{fast_link}, Duration{500}, type);
  builder.add_link(1, middle, BytesPerSecond{slow_link}, Duration{500}, type);
  builder.add_link(middle, 2, BytesPerSecond{slow_link}, Duration{500}, type);
  machine::Network network = finish_network(builder, whole_packet);
  network.arbitration = arbitration;
  return network;
}

std::vector<Time> delivered(const machine::Network& network, const std::vector<TestMessage>& messages) {
  return run_traffic(network, messages, true).result.delivered;
}

}  // namespace

TEST_CASE("arbitration: two inputs of a switch output") {
  // A is 400 B of device 0, whose packets come to the switch at 25,500, 50,500, 75,500 and 100,500 ps; B is 200 B of
  // device 1, whose packets come at 100,500 and 200,500. A packet takes 100,000 ps from there, the first one (of A)
  // from 25,500 to 125,500.
  const std::vector<TestMessage> messages{{0, 2, 400, 0}, {1, 2, 200, 0}};
  // In the order in which they come, A before B where both come: A until 425,500, then B until 625,500.
  CHECK(delivered(fan_in("fifo"), messages) == std::vector<Time>{426'000, 626'000});
  // In turns: A, B, A, B while both have some, then A twice. B is over at 425,500.
  CHECK(delivered(fan_in("round-robin"), messages) == std::vector<Time>{626'000, 426'000});
}

TEST_CASE("arbitration: a device's own messages are an input of its link") {
  // Packets of 300 B of device 0 come to device 1 at 25,500, 50,500 and 75,500 ps; it sends 200 B of its own from 0 on,
  // the first packet until 100,000. The second one is offered then.
  machine::Network network = chain({fast_link, slow_link}, 500, whole_packet);
  const std::vector<TestMessage> messages{{0, 2, 300, 0}, {1, 2, 200, 0}};
  CHECK(delivered(network, messages) == std::vector<Time>{400'500, 500'500});
  // One that passes until 200,000, the own one until 300,000, the others until 500,000.
  network.arbitration = "round-robin";
  CHECK(delivered(network, messages) == std::vector<Time>{500'500, 300'500});
}

TEST_CASE("arbitration: no law but fifo's is used with another policy, and each says so") {
  ProgramCase made(2);
  made.bind(0, {made.block().compute(work(1)).done()});
  made.machine.network.arbitration = "round-robin";
  sim::SimulationOptions options;
  options.fold = sim::Folding::replicas;
  for (const results::LawUse& use : sim::uses_of_laws(made.machine, made.program, options, 1)) {
    CAPTURE(use.name);
    CHECK_FALSE(use.is_used);
    if (use.name == "trains" || use.name == "fold") CHECK(use.because == "links arbitrate by round-robin");
    if (use.name == "rings" || use.name == "rounds") CHECK(use.because == "without trains");
  }
  CHECK(made.refusal(options).find("links arbitrate by round-robin") != std::string::npos);
}

TEST_CASE("arbitration: whole programs with round-robin links are the same with all laws allowed and with none") {
  for (std::uint64_t index = 0; index < random_cases(50); ++index) {
    ProgramCase made = random_rings(650'000 + index);
    made.machine.network.arbitration = "round-robin";
    CAPTURE(index);
    check_same(run_recorded(made, sim::Laws::all).results, run_recorded(made, sim::Laws::none).results);
  }
}

TEST_CASE("arbitration: every policy carries the same packets over the same links, on random traffic") {
  for (std::uint64_t index = 0; index < random_cases(200); ++index) {
    RandomCase made = random_case(600'000 + index);
    CAPTURE(index);
    const auto counts = [&](const std::string& arbitration) {
      made.network.arbitration = arbitration;
      const TrafficResult result = run_traffic(made.network, made.messages, true).result;
      for (const Time time : result.delivered) CHECK(time >= 0);
      std::vector<std::map<std::uint32_t, int>> by_link;
      for (const auto& link : result.departures) {
        auto& packets = by_link.emplace_back();
        for (const Departure& one : link) ++packets[one.message];
      }
      return by_link;
    };
    const auto plain = counts("fifo");
    for (const sim::PortArbitrationKind& kind : sim::port_arbitration_kinds()) CHECK(counts(kind.name) == plain);
  }
}
