// Protocols of a communication library, solved by hand on links of 1 ns a byte and 500 ps.
#include <catch2/catch.hpp>

#include "program_case.hpp"

using namespace tessera;
using program::CollectiveKind;
using program::Protocol;
using test::ProgramCase;

namespace {

Protocol protocol(const char* name, double payload, Time start, Time step, Time step_across = 0) {
  Protocol made;
  made.name = name;
  made.payload = payload;
  made.start = start;
  made.step = step;
  made.step_across = step_across;
  return made;
}

struct Call {
  program::Protocols protocols;
  std::int64_t bytes = 400;
  const char* algorithm = "ring";
  CollectiveKind kind = CollectiveKind::all_reduce;
};

program::Collective collective_of(const Call& call) {
  program::Collective collective = test::collective(call.kind, call.bytes, call.algorithm);
  collective.element = Bytes{1};
  collective.protocols = std::make_shared<const program::Protocols>(call.protocols);
  return collective;
}

/// All devices of a machine, alone.
Time time_of(ProgramCase made, const Call& call, sim::Laws laws = sim::Laws::all) {
  made.program.free_reductions = true;
  std::vector<program::DeviceId> all;
  for (program::DeviceId device = 0; device < made.machine.devices(); ++device) all.push_back(device);
  made.group(all);
  for (const program::DeviceId device : all) made.bind(device, {made.block().collective(collective_of(call)).done()});
  sim::SimulationOptions options;
  options.laws = laws;
  return made.run(options).results.iteration_time;
}

ProgramCase nodes_of_two() {
  machine::Machine made;
  machine::build_cluster(test::small_cluster(2, 2), made);
  ProgramCase program(test::machine_of(made.network));
  program.machine.places = made.places;
  program.machine.network.packet = Bytes{test::packet_bytes};
  return program;
}

}  // namespace

TEST_CASE("a protocol starts, sends flags beside the data, and waits behind each step for what its links lack") {
  // Chunks of 100 B are 200 B on the wire. A step takes 200,000 + 500 on a link and another 200 until it has been 700,
  // six of them behind a start of 10,000.
  for (const sim::Laws laws : {sim::Laws::none, sim::Laws::all})
    CHECK(time_of(ProgramCase(4), {{protocol("LL", 0.5, 10'000, 700)}}, laws) == 10'000 + 6 * 200'700);
  // One that is quicker than its links waits for these alone.
  CHECK(time_of(ProgramCase(4), {{protocol("LL", 0.5, 0, 300)}}) == 6 * 200'500);
  // A gather has no additions, and the same pauses.
  CHECK(time_of(ProgramCase(4), {{protocol("LL", 0.5, 0, 700)}, 400, "ring", CollectiveKind::all_gather}) ==
        3 * 200'700);
}

TEST_CASE("small messages take the protocol that waits less, large ones the one that sends less") {
  const program::Protocols both{protocol("LL", 0.5, 0, 500), protocol("Simple", 1, 0, 50'500)};
  // A step of x B takes 2,000 x + 500 with the first one, 1,000 x + 50,500 with the second: as long for 50 B.
  CHECK(time_of(ProgramCase(4), {both, 4 * 49}) == 6 * 98'500);
  CHECK(time_of(ProgramCase(4), {both, 4 * 51}) == 6 * 101'500);
}

TEST_CASE("what a device moves in a second limits a protocol, and an algorithm's own protocols come before others") {
  Protocol slow = protocol("LL", 0.5, 0, 500);
  slow.most = BytesPerSecond{250'000'000};  // a quarter of the link's 1 GB/s
  CHECK(time_of(ProgramCase(4), {{slow}}) == 6 * 400'500);
  Protocol own = protocol("Simple", 1, 0, 900);
  own.algorithm = "ring";
  CHECK(time_of(ProgramCase(4), {{slow, own}}) == 6 * 100'900);
  // Others have no protocol where none is theirs.
  CHECK(time_of(ProgramCase(4), {{own}, 400, "direct"}) == 2 * 100'500);
}

TEST_CASE("the pauses of a ring over nodes are the mean of those of its hops") {
  // Two nodes of two: as many hops inside, 400 ps of latency, as across, 3,001. A pause of 600 inside and 6,999 across
  // Two nodes of two: as many hops inside, 400 ps of latency, as across, 3,001. A pause of 600 inside and 6,999 across
  // is one of 3,799.5, rounded to 3,800. Others have both.
  const ProgramCase made = nodes_of_two();
  const program::Group all{{0, 1, 2, 3}};
  const program::Protocols simple{protocol("Simple", 1, 0, 1000, 10'000)};
  const auto wire = [&](const char* algorithm) {
    return program::lowering_of(collective_of({simple, 400, algorithm}), all, made.machine).wire;
  };
  CHECK(wire("ring").pause == 3800);
  CHECK(wire("ring").pause_across == 3800);
  CHECK(wire("direct").pause == 600);
  CHECK(wire("direct").pause_across == 6999);
  for (const char* algorithm : {"ring", "direct"})
    CHECK(time_of(made, {simple, 400, algorithm}, sim::Laws::none) == time_of(made, {simple, 400, algorithm}));
}

TEST_CASE("a group that an algorithm refuses has no protocol, whoever asks before that is said") {
  // No rectangle of dies: nothing has been planned that a closed form could look at.
  const ProgramCase made(3);
  const program::Collective asked = collective_of({{protocol("Simple", 1, 0, 700)}, 400, "mesh-scatter"});
  const program::Group all{{0, 1, 2}};
  REQUIRE_FALSE(program::check_collective(asked, all, made.machine).empty());
  CHECK(program::lowering_of(asked, all, made.machine).wire.protocol == program::OnWire::no_protocol);
}

TEST_CASE("auto compares algorithms with their fastest protocols") {
  Protocol ring = protocol("LL", 0.5, 0, 0), direct = protocol("Simple", 1, 300'000, 0);
  ring.algorithm = "ring";
  direct.algorithm = "direct";
  // A ring takes 6 (2 x + 0.5) us for chunks of x kB, the exchange of all with all 300 us more than 2 (x + 0.5): the
  // ring is faster below 29.7 B.
  CHECK(time_of(ProgramCase(4), {{ring, direct}, 4 * 29, "auto"}) == 6 * 58'500);
  CHECK(time_of(ProgramCase(4), {{ring, direct}, 4 * 31, "auto"}) == 300'000 + 2 * 31'500);
}
