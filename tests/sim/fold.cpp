// Replicas that are alike, simulated once, beside all of them.
#include <catch2/catch.hpp>

#include "folding.hpp"
#include "machine/networks/grid_network.hpp"
#include "random_replicas.hpp"
#include "tessera/base/error.hpp"

using namespace tessera;
using namespace tessera::test;

namespace {

/// Two replicas of two devices, which have links to each other and to the one of the same part in the other replica: an
/// all-reduce in each, then one of `bytes` over both of the same part.
ProgramCase two_pairs(std::int64_t bytes) {
  machine::NetworkBuilder builder(4);
  const std::uint16_t type = builder.link_class("wire");
  for (machine::NodeId device = 0; device < 4; ++device) {
    for (const machine::NodeId to : {device ^ 1U, device ^ 2U})
      builder.add_link(device, to, BytesPerSecond{second / byte_time}, Duration{wire_latency}, type);
  }
  ProgramCase made(machine_of(finish_network(builder, packet_bytes)));
  made.program.alike = {{"replicas", {{0, 1}, {2, 3}}}};
  for (const std::vector<program::DeviceId>& members :
       std::vector<std::vector<program::DeviceId>>{{0, 1}, {2, 3}, {0, 2}, {1, 3}})
    made.group(members);
  const auto main = made.block()
                        .collective(collective(program::CollectiveKind::all_reduce, 200, "ring", 0))
                        .collective(collective(program::CollectiveKind::all_reduce, bytes, "ring", 1))
                        .done();
  for (program::DeviceId device = 0; device < 4; ++device)
    made.program.devices[device] = {{main}, {}, {device / 2, 2 + device % 2}, 0};
  return made;
}

std::string refusal_of(const ProgramCase& made) { return made.refusal(all_recorded(sim::Folding::replicas)); }

}  // namespace

TEST_CASE("fold: two replicas cost the events of one, and an all-reduce over both takes what it takes") {
  const ProgramCase made = two_pairs(200);
  sim::SimulationOptions options;
  options.laws = sim::Laws::trains;
  const sim::SimulationResult all = made.run(options);
  options.fold = sim::Folding::replicas;
  const sim::SimulationResult one = made.run(options);
  // Each all-reduce of 200 B over 2: two steps of 100 B at 1,000 ps a byte and 500 ps, the first with 100 ps to add.
  CHECK(one.results.iteration_time == 2 * (2 * (100 * byte_time + wire_latency) + 100));
  CHECK(2 * one.statistics.events == all.statistics.events);
  CHECK(one.fold == "1 of 2 replicas simulated for all");
  check_same(one.results, all.results);
  options.laws = sim::Laws::rings;
  const sim::SimulationResult laws = made.run(options);
  // Two devices begin, and end two rings each, one in the replica and one over both.
  CHECK(laws.statistics.events == 2 * 3);
  check_same(laws.results, all.results);
  // What is over both is sent to the other replica by one link of each device, as what is in each by the other: 200 B
  // in 2 messages.
  CHECK(one.results.link_rows.size() == 8);
  for (const results::LinkRow& link : one.results.link_rows) {
    CHECK(link.messages == 2);
    CHECK(static_cast<std::int64_t>(link.bytes) == 200);
  }
}

namespace {

/// Dies in columns and rows, without links round the edges.
ProgramCase on_mesh(int columns, int rows) {
  machine::Machine made;
  machine::build_grid({columns, rows, false}, BytesPerSecond{second / byte_time}, Duration{wire_latency}, "d2d", made);
  made.network.packet = Bytes{packet_bytes};
  return ProgramCase(machine_of(std::move(made.network)));
}

/// The row of the link between two devices.
results::LinkRow link_between(const sim::SimulationResult& run, std::uint32_t from, std::uint32_t to) {
  for (const results::LinkRow& row : run.results.link_rows)
    if (row.from == from && row.to == to) return row;
  FAIL("there is no link from " << from << " to " << to);
  return {};
}

}  // namespace

TEST_CASE("fold: a die at the edge of a mesh has not as many links as the one that is simulated for it") {
  // Two columns, three rows, a replica a row: its left die sends 200 B to its right one, over the first of the left
  // one's two or three links. Those up and down carry nothing; the right dies' second link leads down, down, and up.
  ProgramCase made = on_mesh(2, 3);
  made.program.alike = {{"replicas", {{0, 1}, {2, 3}, {4, 5}}}};
  const auto left = made.block("left").send(1, Bytes{200}).done(),
             right = made.block("right").receive(0, Bytes{200}).done();
  for (const std::vector<program::DeviceId>& replica : made.program.alike[0].parts) {
    made.program.devices[replica[0]] = {{left}, replica, {}, 0};
    made.program.devices[replica[1]] = {{right}, replica, {}, 0};
  }
  const sim::SimulationResult run = made.run(all_recorded(sim::Folding::replicas));
  CHECK(run.fold == "1 of 3 replicas simulated for all");
  CHECK(run.results.iteration_time == 200 * byte_time + wire_latency);
  REQUIRE(run.results.link_rows.size() == 14);
  for (const results::LinkRow& row : run.results.link_rows) {
    CAPTURE(row.from, row.to);
    CHECK(static_cast<std::int64_t>(row.bytes) == (row.from % 2 == 0 && row.to == row.from + 1 ? 200 : 0));
  }
  check_same(run.results, made.run(all_recorded(sim::Folding::none)).results);
}

TEST_CASE("fold: links of dies correspond by the ways of messages, whatever their numbers") {
  // Two columns, four rows; in the left column a replica of two dies, and another one under it. The lower die's link up
  // is its third one, behind those to the right and down; at the edge, where none leads down, it is the second.
  ProgramCase made = on_mesh(2, 4);
  made.program.alike = {{"replicas", {{0, 2}, {4, 6}}}};
  const auto upper = made.block("upper").send(1, Bytes{200}).done();
  const auto lower = made.block("lower").receive(0, Bytes{200}).send(0, Bytes{100}).done();
  const auto both = made.block("upper too").call(upper).receive(1, Bytes{100}).done();
  for (const std::vector<program::DeviceId>& replica : made.program.alike[0].parts) {
    made.program.devices[replica[0]] = {{both}, replica, {}, 0};
    made.program.devices[replica[1]] = {{lower}, replica, {}, 0};
  }
  const sim::SimulationResult run = made.run(all_recorded(sim::Folding::replicas));
  CHECK(run.fold == "1 of 2 replicas simulated for all");
  CHECK(run.results.iteration_time == 300 * byte_time + 2 * wire_latency);
  for (const std::uint32_t first : {0U, 4U}) {
    CHECK(static_cast<std::int64_t>(link_between(run, first, first + 2).bytes) == 200);
    CHECK(static_cast<std::int64_t>(link_between(run, first + 2, first).bytes) == 100);
  }
  CHECK(static_cast<std::int64_t>(link_between(run, 2, 4).bytes) == 0);
  CHECK(static_cast<std::int64_t>(link_between(run, 4, 2).bytes) == 0);
  check_same(run.results, made.run(all_recorded(sim::Folding::none)).results);
}

TEST_CASE("fold: where ties go on otherwise in other replicas, all are simulated, with a warning") {
  // Two replicas of three devices; messages of several come to one at the same time within the first microsecond, and
  // another one of them has the lowest number in the second replica.
  const ProgramCase made = random_replicas(50);
  const std::string tie =
      "somewhere before 1.00 us several messages come at the same time, and another one of them comes first "
      "elsewhere";
  sim::SimulationOptions options = all_recorded(sim::Folding::replicas);
  const sim::SimulationResult run = made.run(options);
  CHECK(run.fold.empty());
  CHECK(run.not_folded == tie);
  const std::string warning = "simulation.fold: replicas cannot be folded, all of them are simulated: " + tie;
  CHECK(run.warnings == std::vector<std::string>{warning});
  check_same(run.results, made.run(all_recorded(sim::Folding::none)).results);
  // Whoever wants to know at once is told once, before all are simulated.
  std::vector<std::string> told;
  options.warn = [&told](const std::string& text) { told.push_back(text); };
  CHECK(made.run(options).warnings.empty());
  CHECK(told == std::vector<std::string>{warning});
}

TEST_CASE("fold: automatic takes what has the most parts that are alike, and nobody is warned where nothing is") {
  // Two pairs. One device further on, what is a pair becomes one over both replicas. But each device does what the
  // others do with a partner who does, too: one is enough, though no shift takes all to each other.
  ProgramCase made = two_pairs(4096);
  made.program.alike.push_back({"devices", {{0}, {1}, {3}, {2}}});
  sim::SimulationOptions options = all_recorded(sim::Folding::automatic);
  const sim::SimulationResult run = made.run(options);
  CHECK(run.fold == "1 of 4 devices simulated for all");
  check_same(run.results, made.run(all_recorded(sim::Folding::none)).results);
  // A slow device is like no other: all are simulated.
  made.machine.speed[3] = 0.5;
  const sim::SimulationResult all = made.run(options);
  CHECK(all.fold.empty());
  CHECK(all.warnings.empty());
  CHECK(all.not_folded == "gpu 1 has 1 times the normal speed, gpu 3 0.5 times");
  options.laws = sim::Laws::rings;
  CHECK(made.run(options).not_folded.empty());  // nobody asked for it
}

TEST_CASE("fold: where groups end amid the ring of all, one device is simulated for all by ends") {
  // Pairs exchange, then a ring goes over both. One device further on, the second of a pair would exchange with the
  // first of the next one; but as its partner in its own pair does, it is simulated by the same device.
  machine::Machine four;
  machine::build_cluster(small_cluster(4, 1), four);  // a NIC each: 1 GB/s, 3,001 ps
  four.network.packet = Bytes{packet_bytes};
  ProgramCase made(machine_of(std::move(four.network)));
  for (const std::vector<program::DeviceId>& members :
       std::vector<std::vector<program::DeviceId>>{{0, 1}, {2, 3}, {0, 1, 2, 3}})
    made.group(members);
  const auto main = made.block()
                        .collective(collective(program::CollectiveKind::all_to_all, 200, "direct", 0))
                        .collective(collective(program::CollectiveKind::all_reduce, 400, "ring", 1))
                        .done();
  for (program::DeviceId device = 0; device < 4; ++device)
    made.program.devices[device] = {{main}, {}, {device / 2, 2}, 0};
  made.program.alike = {{"replicas", {{0}, {1}, {2}, {3}}}};
  for (const sim::Laws laws : {sim::Laws::all, sim::Laws::trains, sim::Laws::none}) {
    sim::SimulationOptions options = all_recorded(sim::Folding::replicas);
    options.laws = laws;
    const sim::SimulationResult run = made.run(options);
    CHECK(run.fold == "1 of 4 replicas simulated for all");
    // A packet of 100 B to the partner, over two links of 1,000 ps a byte; then six steps of one, the first three with
    // 100 ps to add.
    CHECK(run.results.iteration_time == 7 * (2 * 100 * byte_time + 3001) + 3 * 100);
    options.fold = sim::Folding::none;
    check_same(run.results, made.run(options).results);
  }
  // One link is slower than the one that is simulated for it.
  made.machine.network.links[made.machine.network.first_link[3]].latency = Duration{501};
  CHECK_THAT(refusal_of(made), Catch::Contains("replicas cannot be folded"));
}

TEST_CASE("fold: ties by ends warn, and all are simulated where no shift folds them") {
  // The members stand in an order that no shift keeps: 0 1 3 2, shifted by one 1 2 0 3, by two 2 3 1 0. By ends each
  // does what device 0 does. What three others send each comes at one time, and device 0 has 2 before 3 before 1 behind
  // it, device 1 has 0 before 2 before 3: another one of them comes first.
  ProgramCase made(4);
  made.group({0, 1, 3, 2});
  const auto main = made.block().collective(collective(program::CollectiveKind::all_to_all, 400, "direct")).done();
  for (program::DeviceProgram& device : made.program.devices) device = {{main}, {}, {0}, 0};
  made.program.alike = {{"replicas", {{0}, {1}, {2}, {3}}}};
  sim::SimulationOptions options = all_recorded(sim::Folding::replicas);
  const sim::SimulationResult run = made.run(options);
  CHECK(run.fold.empty());
  REQUIRE(run.warnings.size() == 1);
  CHECK_THAT(
      run.warnings.front(),
      Catch::Matches("simulation.fold: replicas cannot be folded, all of them are simulated: somewhere before .* "
                     "several messages come at the same time, and another one of them comes first elsewhere"));
  options.fold = sim::Folding::none;
  check_same(run.results, made.run(options).results);
}

TEST_CASE("fold: a group in two slots is folded where those that are like it are, too, and refused otherwise") {
  const auto with_groups = [](std::vector<std::vector<program::GroupId>> groups) {
    ProgramCase made = two_pairs(200);
    made.group({2, 3});  // 4: as 1
    const auto twice = made.block()
                           .call(made.program.devices[0].streams.front())
                           .collective(collective(program::CollectiveKind::all_reduce, 200, "ring", 2))
                           .done();
    for (program::DeviceId device = 0; device < 4; ++device)
      made.program.devices[device] = {{twice}, {}, std::move(groups[device]), 0};
    return made;
  };
  const ProgramCase alike = with_groups({{0, 2, 0}, {0, 3, 0}, {1, 2, 1}, {1, 3, 1}});
  const sim::SimulationResult run = alike.run(all_recorded(sim::Folding::replicas));
  CHECK(run.fold == "1 of 2 replicas simulated for all");
  check_same(run.results, alike.run(all_recorded(sim::Folding::none)).results);
  // In the second replica they are two groups.
  const ProgramCase apart = with_groups({{0, 2, 0}, {0, 3, 0}, {1, 2, 4}, {1, 3, 4}});
  CHECK_THAT(refusal_of(apart), Catch::Contains("gpu 0 and gpu 2 have one group in different slots"));
  // Its members do not have it in the same slot.
  ProgramCase crossed = two_pairs(200);
  const auto last = crossed.block().collective(collective(program::CollectiveKind::all_reduce, 200, "ring", 2)).done();
  const auto first = crossed.block().collective(collective(program::CollectiveKind::all_reduce, 200, "ring", 0)).done();
  for (program::DeviceId device = 0; device < 4; ++device) {
    const program::GroupId own = device / 2;
    crossed.program.devices[device] =
        device % 2 == 0 ? program::DeviceProgram{{first}, {}, {own, program::no_group, program::no_group}, 0}
                        : program::DeviceProgram{{last}, {}, {program::no_group, program::no_group, own}, 0};
  }
  CHECK_THAT(refusal_of(crossed), Catch::Contains("gpu 0 has a group in another slot than other members of it"));
  check_same(crossed.run(all_recorded(sim::Folding::automatic)).results,
             crossed.run(all_recorded(sim::Folding::none)).results);
}

TEST_CASE("fold: what ends early has done as much as without") {
  const ProgramCase made = two_pairs(4096);
  sim::SimulationOptions options;
  options.laws = sim::Laws::rings.with(sim::Law::fold);
  options.run.end = 1;
  const sim::SimulationResult folded = made.run(options);
  REQUIRE(folded.fold == "1 of 2 replicas simulated for all");
  CHECK(folded.statistics.last_event < options.run.end);
  options.fold = sim::Folding::none;
  CHECK(folded.results.iteration_time == made.run(options).results.iteration_time);
}

TEST_CASE("fold: what is cut off has no results, and is not simulated again") {
  const ProgramCase made = two_pairs(4'000'000);
  sim::SimulationOptions options;
  options.laws = sim::Laws::none.with(sim::Law::fold);
  const sim::SimulationResult whole = made.run(options);
  REQUIRE(whole.fold == "1 of 2 replicas simulated for all");
  int asked = 0;  // it is over from the first time on
  options.run.is_over = [&asked] { return ++asked > 0; };
  const sim::SimulationResult over = made.run(options);
  CHECK(asked == 1);
  CHECK(over.statistics.cut_off);
  CHECK(over.not_folded.empty());
  CHECK(over.results.device_rows.empty());
  CHECK(over.results.iteration_time <= whole.results.iteration_time);
}

TEST_CASE("fold: what is not alike is named") {
  ProgramCase slow = two_pairs(200);
  slow.machine.speed[3] = 0.5;
  CHECK_THAT(refusal_of(slow), Catch::Contains("gpu 1 has 1 times the normal speed, gpu 3 0.5 times"));
  ProgramCase nameless = two_pairs(200);
  nameless.program.alike.clear();
  CHECK_THAT(refusal_of(nameless), Catch::Contains("this strategy names no replicas"));
  ProgramCase twice = two_pairs(200);
  twice.program.alike = {{"replicas", {{0, 1}, {2, 1}}}};
  CHECK_THAT(refusal_of(twice), Catch::Contains("device 1 of the strategy's replicas does not exist, or is in two"));
  twice.program.alike = {{"replicas", {{0, 1}, {2}}}};
  CHECK_THAT(refusal_of(twice), Catch::Contains("replicas have not all as many devices"));
  ProgramCase other = two_pairs(200);
  const program::BlockId main = other.program.devices[2].streams.front();
  other.program.devices[2].streams = {other.block().compute(work(1)).call(main).done()};
  CHECK_THAT(refusal_of(other), Catch::Contains("gpu 0 and gpu 2 carry out different instructions"));
  ProgramCase alone = two_pairs(200);  // one device works, and nobody sends
  const program::BlockId one = alone.block().compute(work(1)).done();
  for (program::DeviceProgram& device : alone.program.devices) device = {};
  alone.program.devices[0] = {{one}, {}, {}, 0};
  alone.program.alike = {{"replicas", {{0}, {1}, {2}, {3}}}};
  CHECK_THAT(refusal_of(alone), Catch::Contains("gpu 0 and gpu 1 carry out different instructions"));
  ProgramCase beside = two_pairs(200);
  beside.program.alike = {{"replicas", {{0}, {2}}}};
  CHECK_THAT(refusal_of(beside), Catch::Contains("is in none of the replicas"));
  ProgramCase link = two_pairs(200);
  link.machine.network.links[link.machine.network.first_link[2]].latency = Duration{501};  // to gpu 3
  CHECK_THAT(refusal_of(link), Catch::Contains("the link from gpu 2 to gpu 3 has another bandwidth or latency"));
}

TEST_CASE("fold: a collective over replicas whose members do different things is named, and a member that does") {
  // 201 B over 2: chunks of 101 and 100 B.
  CHECK_THAT(refusal_of(two_pairs(201)),
             Catch::Contains("all-reduce of 201 B over gpu 0 and 1 more by algorithm \"ring\": gpu 0 and gpu 2, which "
                             "should be alike, do different things; \"none\" simulates them all"));
  // Over both replicas, by rounds in which all members do the same: alike where the members of a replica are as far
  // before those of the next one everywhere.
  const auto over_both = [](std::vector<program::DeviceId> members, const char* algorithm) {
    ProgramCase made = two_pairs(200);
    made.group(std::move(members));
    const auto main =
        made.block("over both").collective(collective(program::CollectiveKind::all_reduce, 4, algorithm, 2)).done();
    for (program::DeviceProgram& device : made.program.devices) {
      device.streams = {main};
      device.groups.push_back(4);
    }
    return made;
  };
  CHECK_THAT(
      refusal_of(over_both({0, 2, 1, 3}, "dissemination")),
      Catch::Contains("all-reduce of 4 B over gpu 0 and 3 more by algorithm \"dissemination\": those of the next "
                      "of the replicas are not its members in the same order"));
  CHECK_THAT(refusal_of(over_both({0, 1, 2, 3}, "binomial-tree")),
             Catch::Contains("gpu 0 and gpu 2, which should be alike"));
}

TEST_CASE("fold: one replica alone is simulated as it is") {
  ProgramCase made = two_pairs(200);
  made.program.alike = {{"replicas", {{0, 1, 2, 3}}}};
  const sim::SimulationResult run = made.run(all_recorded(sim::Folding::replicas));
  CHECK(run.fold.empty());
  check_same(run.results, made.run(all_recorded(sim::Folding::none)).results);
}
