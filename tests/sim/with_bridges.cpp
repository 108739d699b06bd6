// Hosts whose links share a bandwidth: reads and writes by hand, alone and beside each other, and ways over the bridge.
#include <catch2/catch.hpp>
#include <optional>

#include "dies_with_hosts.hpp"
#include "tessera/program/ways.hpp"

using namespace tessera;
using namespace tessera::test;
using machine::NodeId;

namespace {

/// Of the 700 ps of its links 350 are to the bridge and 350 behind it.
machine::Machine dies_with_bridge(int dies, const std::vector<NodeId>& ends,
                                  std::optional<BytesPerSecond> bridge_bandwidth) {
  return dies_with_hosts(dies, {host_at(ends, bridge_bandwidth)});
}

/// The host sends 1,000 B to each of these dies, which wait for them and work for 300 ps.
ProgramCase read_by(const machine::Machine& machine, const std::vector<NodeId>& dies) {
  ProgramCase made(machine);
  const NodeId host = machine.accelerators();
  program::BlockBuilder sends = made.block("host");
  for (const NodeId die : dies) {
    sends.send(die, Bytes{1000});
    made.bind(die, {made.block("die " + std::to_string(die)).receive(host, Bytes{1000}).compute(work(300)).done()});
  }
  made.bind(host, {sends.done()});
  return made;
}

/// Each of these dies sends 1,000 B to the host, which waits for all of them.
ProgramCase written_by(const machine::Machine& machine, const std::vector<NodeId>& dies) {
  ProgramCase made(machine);
  const NodeId host = machine.accelerators();
  program::BlockBuilder receives = made.block("host");
  for (const NodeId die : dies) {
    receives.receive(die, Bytes{1000});
    made.bind(die, {made.block("die " + std::to_string(die)).send(host, Bytes{1000}).done()});
  }
  made.bind(host, {receives.done()});
  return made;
}

/// With all laws and with none, on one rank and on several.
void check_time(const ProgramCase& made, Time time) {
  for (const sim::Laws laws : {sim::Laws::all, sim::Laws::none}) {
    sim::SimulationOptions options;
    options.laws = laws;
    CHECK(run_recorded(made, laws).results.iteration_time == time);
    for (const int ranks : {2, static_cast<int>(made.machine.devices())}) {
      const auto ran = sim::simulate_side_by_side(made.machine, made.program, PicosecondPerFlop(), ranks, options, {});
      CHECK(ran.iteration_time == time);
    }
  }
}

constexpr BytesPerSecond wide{4'000'000'000}, as_a_link{2'000'000'000}, narrow{1'000'000'000};

}  // namespace

TEST_CASE("bridges: a read takes what the slowest link takes, behind a packet on those before it") {
  // A packet is at the bridge after 100 x 250 + 350 ps; the link behind it is slower, ten packets follow each other.
  check_time(read_by(dies_with_bridge(2, {0}, wide), {0}), 25'350 + 500'000 + 350 + 300);
  // The bridge is slower than the links behind it: its last packet goes on alone.
  check_time(read_by(dies_with_bridge(2, {0}, narrow), {0}), 1'000'000 + 350 + 50'000 + 350 + 300);
  // To die (1,0): a packet is at die (0,0) after 25,350 + 50,000 + 350 ps, the link between dies is the slowest.
  check_time(read_by(dies_with_bridge(2, {0}, wide), {1}), 75'700 + 1'000'000 + 500 + 300);
}

TEST_CASE("bridges: a write goes the same way back") {
  check_time(written_by(dies_with_bridge(2, {0}, wide), {0}), 500'000 + 350 + 25'000 + 350);
  check_time(written_by(dies_with_bridge(2, {0}, narrow), {0}), 50'350 + 1'000'000 + 350);
}

TEST_CASE("bridges: two dies that read at once share the bandwidth") {
  // Without a bridge each has a link of its own, 500 ps a byte.
  check_time(read_by(dies_with_bridge(2, {0, 1}, std::nullopt), {0, 1}), 500'000 + 700 + 300);
  // With one as fast as a link, a die alone takes what it took, and a packet more at the bridge.
  const machine::Machine shared = dies_with_bridge(2, {0, 1}, as_a_link);
  check_time(read_by(shared, {1}), 500'000 + 350 + 50'000 + 350 + 300);
  // Both: twenty packets of 50,000 ps leave the host in turn; the last one is die (1,0)'s, that of die (0,0) the one
  // before.
  const Time last = 1'000'000 + 350 + 50'000 + 350;
  check_time(read_by(shared, {0, 1}), last + 300);
  const results::RunResults results = run_recorded(read_by(shared, {0, 1}), sim::Laws::all).results;
  REQUIRE(results.device_rows.size() == 3);
  CHECK(results.device_rows[0].finished == last - 50'000 + 300);
  CHECK(results.device_rows[1].finished == last + 300);
}

TEST_CASE("bridges: two dies that write at once share the bandwidth") {
  check_time(written_by(dies_with_bridge(2, {0, 1}, std::nullopt), {0, 1}), 500'000 + 700);
  // Their first packets are at the bridge at 50,350 ps; from then on twenty packets of 50,000 ps leave it.
  check_time(written_by(dies_with_bridge(2, {0, 1}, as_a_link), {0, 1}), 50'350 + 1'000'000 + 350);
}

TEST_CASE("bridges: ways are bound over one from and to its host alone") {
  // Dies (0,0) and (3,0) are three hops apart, over the bridge it were two.
  const machine::Machine machine = dies_with_bridge(4, {0, 3}, wide);
  const NodeId host = 4;
  const auto chosen =
      program::unused_first(machine, {{{0, 3, 0}, Bytes{10}}, {{1, host, 0}, Bytes{10}}, {{host, 2, 0}, Bytes{10}}}, 2);
  REQUIRE(chosen.size() == 3);
  CHECK(chosen[0].links == machine::Routes(machine.network).links(0, 3));
  CHECK(chosen[0].links.size() == 3);
  CHECK(chosen[1].links == machine::Routes(machine.network).links(1, host));
  CHECK(chosen[2].links == machine::Routes(machine.network).links(host, 2));
  ProgramCase made(machine);
  made.bind(0, {made.block("sender").send(3, Bytes{10}).done()});
  made.bind(3, {made.block("receiver").receive(0, Bytes{10}).done()});
  const machine::Routes routes(machine.network);
  made.program.ways = {{{0, 3, 0}, {routes.links(0, host).front(), routes.links(host, 3).back()}}};
  CHECK(made.refusal() ==
        "the way from device 0 to device 3 on channel 0 passes bridge of host 0, which passes only what its host sends "
        "and receives on");
}
