// Ring collectives without events for their steps, beside the same step by step.
#include <catch2/catch.hpp>

#include "machine/networks/cluster_network.hpp"
#include "random_replicas.hpp"
#include "random_rings.hpp"
#include "sim/laws/rings/ring_way.hpp"
#include "support/random_cases.hpp"
#include "traffic.hpp"

using namespace tessera;
using namespace tessera::test;

namespace {

/// All devices carry out one collective, of a group of all.
ProgramCase one_collective(machine::Machine machine, const program::Collective& collective) {
  ProgramCase made(std::move(machine));
  std::vector<program::DeviceId> all(made.machine.devices());
  for (program::DeviceId device = 0; device < all.size(); ++device) all[device] = device;
  made.group(all);
  for (const program::DeviceId device : all) made.bind(device, {made.block().collective(collective).done()});
  return made;
}

/// Two nodes of two devices, a NIC each, with a link between each two.
machine::Machine two_nodes() {
  machine::Machine machine = connected_machine(4);
  for (int device = 0; device < 4; ++device)
    machine.places[static_cast<std::size_t>(device)] = {device / 2, device % 2, 0, device};
  return machine;
}

bool has_strands(const ProgramCase& made) {
  return std::ranges::any_of(made.program.collectives, [&](const program::Collective& one) {
    return program::lowering_of(one, made.program.groups[one.group_slot], made.machine).rings > 1;
  });
}

}  // namespace

TEST_CASE("ring laws: 1,000 random programs take the same picoseconds as step by step") {
  std::uint64_t fewer = 0;
  for (std::uint64_t index = 0; index < random_cases(1000); ++index) {
    const ProgramCase made = random_rings(index);
    CAPTURE(index);
    fewer += check_same_as_steps(made) ? 1 : 0;
  }
  CHECK(fewer > random_cases(400));
}

TEST_CASE("ring laws: rings of each kind take the same picoseconds as step by step, many of them as laws") {
  for (const auto& [algorithm, most_steps] :
       {std::pair{"bidirectional-ring", 50U}, std::pair{"hierarchical", 180U}, std::pair{"ring", 180U}}) {
    std::uint64_t fewer = 0;
    for (std::uint64_t index = 0; index < random_cases(500); ++index) {
      const ProgramCase made = random_rings(300'000 + index, algorithm);
      CAPTURE(algorithm, index);
      fewer += check_same_as_steps(made) ? 1 : 0;
    }
    CHECK(fewer > random_cases(most_steps));
  }
}

TEST_CASE("ring laws: programs with several rings side by side take the same picoseconds, many with fewer events") {
  std::uint64_t with_strands = 0, fewer = 0;
  for (std::uint64_t index = 0; index < random_cases(1000); ++index) {
    const ProgramCase made = random_rings(400'000 + index, "ring");
    if (!has_strands(made)) continue;
    CAPTURE(index);
    ++with_strands;
    fewer += check_same_as_steps(made) ? 1 : 0;
  }
  CHECK(with_strands > random_cases(150));
  CHECK(fewer > random_cases(80));
}

TEST_CASE("ring laws: beside all other algorithms, on clusters, programs take the same picoseconds as step by step") {
  // A tree waits until its messages have left, but not for those of the ring before it.
  for (std::uint64_t index = 0; index < random_cases(1000); ++index) {
    const ProgramCase made = random_replicas(200'000 + index);
    CAPTURE(index);
    check_same(run_recorded(made, sim::Laws::all).results, run_recorded(made, sim::Laws::trains).results);
  }
}

TEST_CASE("ring laws: programs take the same picoseconds packet by packet") {
  for (std::uint64_t index = 0; index < random_cases(100); ++index) {
    const ProgramCase made = random_rings(50'000 + index);
    CAPTURE(index);
    check_same(run_recorded(made, sim::Laws::all).results, run_recorded(made, sim::Laws::none).results);
  }
}

TEST_CASE("ring laws: found among many random programs") {
  // A message comes when its sender posts the next one, in an event that breaks the ring off and comes before it; a
  // ring takes a link at the picosecond at which its queue ends, and gives it back unused.
  for (const std::uint64_t index : {63'001'267U, 63'001'560U}) {
    const ProgramCase made = random_rings(index, "hierarchical");
    CAPTURE(index);
    check_same(run_recorded(made, sim::Laws::all).results, run_recorded(made, sim::Laws::none).results);
  }
}

TEST_CASE("laws: the queue of flows whose rounds are cut to one that leaves back to back") {
  // Two rounds with pauses, of which the second one is cut: the first one is counted as what it is, without.
  const ProgramCase made = random_rings(78'005'283, "hierarchical");
  check_same(run_recorded(made, sim::Laws::trains).results, run_recorded(made, sim::Laws::none).results);
}

TEST_CASE("ring laws: guests, found among many random programs") {
  // Several come in the picosecond in which the ring is broken off, and those behind the first are told of anew.
  const ProgramCase several = random_replicas(9'000'001);
  check_same(run_recorded(several, sim::Laws::all).results, run_recorded(several, sim::Laws::none).results);
  // One comes while a packet of the device's own leaves that was sent before the ring took the link; one is in the
  // queue when the ring is broken off, and is taken back then.
  for (const auto& [kind, index] :
       {std::pair{SiteKind::package, 78'003'763U}, std::pair{SiteKind::torus, 78'004'228U}}) {
    const ProgramCase made = random_replicas_on(kind, index);
    CAPTURE(index);
    check_same(run_recorded(made, sim::Laws::all).results, run_recorded(made, sim::Laws::none).results);
  }
}

TEST_CASE("ring laws: folded, on tori, found among many random programs") {
  for (const std::uint64_t index : {92'000'212U, 92'000'740U}) {
    const ProgramCase made = random_replicas_on(SiteKind::torus, index);
    CAPTURE(index);
    check_same(run_recorded(made, sim::Laws::all).results, run_recorded(made, sim::Laws::none).results);
  }
}

TEST_CASE("laws: on clusters, where many messages share links, programs take the same picoseconds packet by packet") {
  // The first two: several segments of one message are taken back at once, and told of anew together. The others: two
  // streams of a device go on in the same picosecond; one is in a ring that has been broken off, or its messages leave,
  // and it enters a ring at the time for which it had asked to be called; a ring is over, but for a packet of others
  // among its messages.
  std::vector<std::uint64_t> cases{900'094, 905'774, 1'201'054, 2'019'184, 20'017'981, 40'000'141};
  while (cases.size() < random_cases(300)) cases.push_back(210'000 + cases.size());
  for (const std::uint64_t index : cases) {
    const ProgramCase made = random_replicas(index);
    CAPTURE(index);
    check_same(run_recorded(made, sim::Laws::all).results, run_recorded(made, sim::Laws::none).results);
  }
}

TEST_CASE("laws: a packet that takes no time has left before others come, whether the port expects them or not") {
  // Messages of 0 B through a device that posts its own ones as it receives others, all within one picosecond.
  // The last three: one that comes with an amendment, one behind a message that leaves just then, and one that is
  // posted before a packet of a train comes.
  for (const std::uint64_t index : {6'000'201, 6'000'266, 6'000'689, 71'000'296, 71'001'615, 77'004'599}) {
    const ProgramCase made = random_rings(index, "bidirectional-ring");
    CAPTURE(index);
    check_same(run_recorded(made, sim::Laws::trains).results, run_recorded(made, sim::Laws::none).results);
  }
}

TEST_CASE("ring laws: what comes early comes behind a message of before that takes as little time") {
  // Of 0 B both: a member that has not entered waits for the last step of another collective, whose message comes at
  // the instant at which the ring is broken off.
  const ProgramCase made = random_rings(500'428);
  check_same(run_recorded(made, sim::Laws::all).results, run_recorded(made, sim::Laws::trains).results);
}

TEST_CASE("ring laws: the queue behind what the link has been given before") {
  // Packets of 100 B at 1,000 ps a byte: three of 100, 50 and 100 B are sent from 0 to 250 ns. At 120 ns, when a
  // message of 100 B comes, the short one is in service until 150 ns; the third and the new one wait.
  const machine::Network network = chain({1'000'000'000}, 500, 100);
  const sim::NetworkTables tables(network);
  sim::WayTable ways(tables);
  sim::RingWay path(ways, {0});
  path.begin({{0, 250}}, {{0, 0, {150}}});
  CHECK(path.send(120'000, path.facts().size_of(100)) == 350'000 + 500);
  const std::vector<sim::LinkCounts> counts = path.take_counts();
  CHECK(counts[0].bytes == 100);
  CHECK(counts[0].peak_queue == 200);
}

TEST_CASE("ring laws: two events a member, and the time of the recurrence") {
  // 4 devices, 400 B: 2 x 3 steps of 100 B at 1,000 ps a byte and 500 ps, the first three with 100 ps to add them.
  ProgramCase made(4);
  made.group({0, 1, 2, 3});
  for (program::DeviceId device = 0; device < 4; ++device)
    made.bind(device, {made.block().collective(collective(program::CollectiveKind::all_reduce, 400, "ring")).done()});
  const sim::SimulationResult run = run_recorded(made, sim::Laws::all);
  CHECK(run.results.iteration_time == 6 * (100 * byte_time + wire_latency) + 3 * 100);
  CHECK(run.statistics.events == 8);
}

TEST_CASE("ring laws: a packet of somebody else comes among a ring's, and what it delays goes round") {
  // Three devices of four behind a switch gather 900 B: two steps of 300 B, three packets each. Alone a message is
  // delivered after 100 + 0.5 + 300 + 0.5 = 401 ns. Device 3 posts 100 B for device 1 at 50 ns: they come to its link
  // at 150.5 ns, in the midst of the first packet, and leave at 300.5 ns. The second and third one leave 100 ns later.
  // So device 1 posts its second message at 501 ns, and device 2 has it at 902 ns; the others end at 802 ns.
  machine::NetworkBuilder builder(4);
  const machine::NodeId middle = builder.add_switch("middle");
  const std::uint16_t type = builder.link_class("wire");
  for (machine::NodeId device = 0; device < 4; ++device) {
    builder.add_link(device, middle, BytesPerSecond{second / byte_time}, Duration{wire_latency}, type);
    builder.add_link(middle, device, BytesPerSecond{second / byte_time}, Duration{wire_latency}, type);
  }
  ProgramCase made(machine_of(finish_network(builder, packet_bytes)));
  made.group({0, 1, 2});
  const auto gather = made.block().collective(collective(program::CollectiveKind::all_gather, 900, "ring")).done();
  made.bind(0, {gather});
  made.bind(1, {gather, made.block("beside").receive(3, Bytes{100}, 0).done()});
  made.bind(2, {gather});
  made.bind(3, {made.block("guest").compute(work(50'000)).send(1, Bytes{100}, 0).done()});
  const sim::SimulationResult run = run_recorded(made, sim::Laws::all);
  CHECK(run.results.device_rows[0].finished == 802'000);
  CHECK(run.results.device_rows[1].finished == 802'000);
  CHECK(run.results.device_rows[2].finished == 902'000);
  CHECK(run.events[0].name == "segments");
  CHECK(run.events[0].count == 1);  // that packet at the switch
  check_same(run.results, run_recorded(made, sim::Laws::none).results);
}

TEST_CASE("ring laws: a late member catches up, its messages behind each other") {
  // Device 3 enters 10 us after the others, whose first messages have come by then. An all-gather of 300 B of 4: chunks
  // of 75 B. It posts its three messages at once, they leave at 75, 150 and 225 ns behind that, and it has ended.
  ProgramCase made(4);
  made.group({0, 1, 2, 3});
  for (program::DeviceId device = 0; device < 4; ++device) {
    program::BlockBuilder block = made.block("main " + std::to_string(device));
    if (device == 3) block.compute(work(10'000'000));
    made.bind(device, {block.collective(collective(program::CollectiveKind::all_gather, 300, "ring")).done()});
  }
  const results::RunResults results = run_recorded(made, sim::Laws::all).results;
  CHECK(results.device_rows[3].finished == 10'000'000);
  // Device 0 has its third message 225 ns and a latency behind the late one's entry.
  CHECK(results.device_rows[0].finished == 10'000'000 + 225 * byte_time + wire_latency);
  // Device 2 gets device 3's chunk last: it goes round by 0 and 1, 75 ns and a latency a hop.
  CHECK(results.device_rows[2].finished == 10'000'000 + 3 * (75 * byte_time + wire_latency));
}

TEST_CASE("ring laws: two rings side by side are two events a member") {
  // 400 B over 4 devices in two nodes: ring 0 goes 0 1 2 3, ring 1 goes 1 0 3 2, and each carries 50 B of every chunk.
  // 2 x 3 steps of 50 B at 1,000 ps a byte and 500 ps; in the first three both rings add 50 B at once, 100 ps.
  const ProgramCase made = one_collective(two_nodes(), collective(program::CollectiveKind::all_reduce, 400, "ring"));
  REQUIRE(has_strands(made));
  const sim::SimulationResult run = run_recorded(made, sim::Laws::all);
  CHECK(run.results.iteration_time == 6 * (50 * byte_time + wire_latency) + 3 * 100);
  CHECK(run.statistics.events == 8);
  check_same(run.results, run_recorded(made, sim::Laws::trains).results);
}

TEST_CASE("ring laws: both ways round are two events a member") {
  // 2 x 3 steps of two halves of 50 B, which go side by side; in the first three 2 x 50 B are added, 100 ps.
  const ProgramCase made =
      one_collective(connected_machine(4), collective(program::CollectiveKind::all_reduce, 400, "bidirectional-ring"));
  const sim::SimulationResult run = run_recorded(made, sim::Laws::all);
  CHECK(run.results.iteration_time == 6 * (50 * byte_time + wire_latency) + 3 * 100);
  CHECK(run.statistics.events == 8);
}

TEST_CASE("ring laws: both ways round, a late member is awaited from both sides") {
  // An all-gather of 400 B: halves of 50 B, 50.5 ns a step. Device 3 enters at 10 us, when the messages of step 0 have
  // come to it: it posts those of steps 0 and 1 at once, which come to devices 0 and 2 at 50.5 and 100.5 ns behind
  // that. These post step 1 at 50.5 and, with what 3 sent in step 1, step 2 at 100.5; theirs of step 1 come to 1 and 3
  // at 101. These post step 2 at 101, which is at 0 and 2 at 151.5; what 0 and 2 post at 100.5 is at 1 and 3 at 151.
  ProgramCase made(4);
  made.group({0, 1, 2, 3});
  for (program::DeviceId device = 0; device < 4; ++device) {
    program::BlockBuilder block = made.block("main " + std::to_string(device));
    if (device == 3) block.compute(work(10'000'000));
    made.bind(device,
              {block.collective(collective(program::CollectiveKind::all_gather, 400, "bidirectional-ring")).done()});
  }
  const sim::SimulationResult run = run_recorded(made, sim::Laws::all);
  for (const program::DeviceId device : {0U, 2U}) CHECK(run.results.device_rows[device].finished == 10'151'500);
  for (const program::DeviceId device : {1U, 3U}) CHECK(run.results.device_rows[device].finished == 10'151'000);
  CHECK(run.statistics.events == 9);  // and one to end the late one's work
}

TEST_CASE("ring laws: inside nodes, across and inside again is two events a member") {
  // 400 B: inside its node each gets 200 B and adds them (200 ps), across nodes 100 B, added, and 100 B, then 200 B
  // inside.
  const ProgramCase made =
      one_collective(two_nodes(), collective(program::CollectiveKind::all_reduce, 400, "hierarchical"));
  const sim::SimulationResult run = run_recorded(made, sim::Laws::all);
  CHECK(run.results.iteration_time ==
        2 * (200 * byte_time + wire_latency) + 200 + 2 * (100 * byte_time + wire_latency) + 100);
  CHECK(run.statistics.events == 8);
}

TEST_CASE("ring laws: rings that share a link go step by step") {
  // Behind a switch both ways round leave over one link.
  machine::ClusterShape shape;
  shape.gpus_per_node = 4;
  shape.nvlink_bandwidth = BytesPerSecond{1'000'000'000};
  shape.nvlink_latency = Duration{1000};
  machine::Machine machine;
  machine::build_cluster(shape, machine);
  machine.network.packet = Bytes{100};
  const ProgramCase made = one_collective(machine_of(machine.network),
                                          collective(program::CollectiveKind::all_reduce, 4000, "bidirectional-ring"));
  const sim::SimulationResult laws = run_recorded(made, sim::Laws::all), steps = run_recorded(made, sim::Laws::trains);
  CHECK(laws.statistics.events == steps.statistics.events);
  check_same(laws.results, steps.results);
}
