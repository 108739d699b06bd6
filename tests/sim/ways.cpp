// Messages that a program binds to ways: by hand, against the packet-by-packet reference, and laws against each other.
#include <catch2/catch.hpp>

#include "machine/networks/grid_network.hpp"
#include "random_islands.hpp"
#include "random_replicas.hpp"
#include "random_rings.hpp"
#include "random_traffic.hpp"
#include "random_ways.hpp"
#include "support/random_cases.hpp"
#include "tessera/program/search/evaluations.hpp"
#include "tessera/sim/laws.hpp"

using namespace tessera;
using namespace tessera::test;
using machine::LinkId;
using machine::NodeId;

namespace {

/// Dies at 1 GB/s (1,000 ps a byte) and 500 ps a link, packets of 100 B. Die y * columns + x stands at (x, y), and
/// messages go along their row first.
machine::Machine mesh(int columns, int rows) {
  machine::Machine made;
  made.grid = {columns, rows, false};
  machine::build_grid(made.grid, BytesPerSecond{second / byte_time}, Duration{wire_latency}, "d2d", made);
  made.network.packet = Bytes{packet_bytes};
  machine::Machine machine = machine_of(made.network);
  machine.places = made.places;
  machine.grid = made.grid;
  return machine;
}

/// The links from each device to the next one.
std::vector<LinkId> along(const machine::Network& network, const std::vector<NodeId>& nodes) {
  std::vector<LinkId> links;
  for (std::size_t i = 1; i < nodes.size(); ++i) {
    for (LinkId link = network.first_link[nodes[i - 1]]; link < network.first_link[nodes[i - 1] + 1]; ++link)
      if (network.links[link].to == nodes[i]) links.push_back(link);
  }
  REQUIRE(links.size() + 1 == nodes.size());
  return links;
}

/// Sends 1,000 B from each of `pairs` to the other one, all at once.
ProgramCase sends(machine::Machine machine, const std::vector<std::pair<NodeId, NodeId>>& pairs) {
  ProgramCase made(std::move(machine));
  std::vector<program::BlockBuilder> blocks;
  for (NodeId device = 0; device < made.machine.devices(); ++device) blocks.push_back(made.block());
  for (const auto& [from, to] : pairs) blocks[from].send(to, Bytes{1000});
  for (const auto& [from, to] : pairs) blocks[to].receive(from, Bytes{1000});
  for (NodeId device = 0; device < made.machine.devices(); ++device) made.bind(device, {blocks[device].done()});
  return made;
}

Time finished(const results::RunResults& results, NodeId device) {
  return std::ranges::find(results.device_rows, device, &results::DeviceRow::device)->finished;
}

/// With all laws, and packet by packet.
results::RunResults run_both(const ProgramCase& made) {
  const results::RunResults results = run_recorded(made, sim::Laws::all).results;
  check_same(results, run_recorded(made, sim::Laws::none).results);
  return results;
}

/// All laws give the rows of trains alone and of packet by packet.
void check_laws(const ProgramCase& made) {
  const results::RunResults packets = run_recorded(made, sim::Laws::none).results;
  check_same(run_recorded(made, sim::Laws::trains).results, packets);
  check_same(run_recorded(made, sim::Laws::all).results, packets);
}

/// Without what keeps rounds from being left out: records of memory, and of time.
void check_rounds(const ProgramCase& made) {
  sim::SimulationOptions options;
  options.allow_oversubscription = true;
  const results::RunResults laws = made.run(options).results;
  options.laws = sim::Laws::none;
  check_same(laws, made.run(options).results);
}

}  // namespace

TEST_CASE("bound ways: a message goes down its column first where it is bound to") {
  // 3 x 2 dies, 0 to 5: along the row over 1 and 2, bound over 3 and 4. Ten packets leave the first link after
  // 1,000,000 ps, and each of the other two adds a packet's 100,000; three latencies.
  ProgramCase made = sends(mesh(3, 2), {{0, 5}});
  made.program.ways = {{{0, 5, 0}, along(made.machine.network, {0, 3, 4, 5})}};
  const results::RunResults results = run_both(made);
  CHECK(finished(results, 5) == 1'000'000 + 2 * 100'000 + 3 * wire_latency);
  for (const results::LinkRow& row : results.link_rows) {
    const bool is_on_way = std::ranges::find(made.program.ways[0].links, row.link) != made.program.ways[0].links.end();
    CHECK(row.bytes == (is_on_way ? 1000 : 0));
    CHECK(row.messages == (is_on_way ? 1 : 0));
  }
}

TEST_CASE("bound ways: two messages that share a link do not where one of them is bound to another way") {
  // 0 to 5 goes over the link from 1 to 2: ten packets come there at 100,000, 200,000, ... and a latency. Device 1
  // sends 2 one packet at 150,000, behind the first of these: it leaves at 300,000 and a latency, and the other nine
  // are late by its time. All eleven have left at 1,200,000 and a latency; the link to 5 adds a packet's time.
  ProgramCase made(mesh(3, 2));
  made.bind(0, {made.block().send(5, Bytes{1000}).done()});
  made.bind(1, {made.block().compute(work(150'000)).send(2, Bytes{100}).done()});
  made.bind(2, {made.block().receive(1, Bytes{100}).done()});
  made.bind(5, {made.block().receive(0, Bytes{1000}).done()});
  const results::RunResults sharing = run_both(made);
  CHECK(finished(sharing, 5) == 1'200'000 + 100'000 + 3 * wire_latency);
  CHECK(finished(sharing, 2) == 300'000 + 2 * wire_latency);
  // Down its column, each is alone.
  made.program.ways = {{{0, 5, 0}, along(made.machine.network, {0, 3, 4, 5})}};
  const results::RunResults apart = run_both(made);
  CHECK(finished(apart, 5) == 1'000'000 + 2 * 100'000 + 3 * wire_latency);
  CHECK(finished(apart, 2) == 250'000 + wire_latency);
}

TEST_CASE("bound ways: round a dead link, by a longer way than the shortest one") {
  // 3 x 2 dies, the link from 1 to 2 dead: from 0 to 2 by 3, 4 and 5 instead of by 4 and 5 from 1 on, as routes lead.
  ProgramCase made = sends(mesh(3, 2), {{0, 2}});
  made.machine.network.links[along(made.machine.network, {1, 2})[0]].dead = true;
  made.program.ways = {{{0, 2, 0}, along(made.machine.network, {0, 3, 4, 5, 2})}};
  CHECK(finished(run_both(made), 2) == 1'000'000 + 3 * 100'000 + 4 * wire_latency);
}

TEST_CASE("bound ways: each channel has its own") {
  // Two messages from 0 to 3 of 2 x 2 dies, one by 1 and one by 2: alone on both ways.
  ProgramCase made(mesh(2, 2));
  made.bind(0, {made.block().send(3, Bytes{1000}, 0).send(3, Bytes{1000}, 1).done()});
  made.bind(3, {made.block().receive(0, Bytes{1000}, 0).receive(0, Bytes{1000}, 1).done()});
  made.program.ways = {{{0, 3, 1}, along(made.machine.network, {0, 2, 3})}};
  CHECK(run_both(made).iteration_time == 1'000'000 + 100'000 + 2 * wire_latency);
  made.program.ways.clear();  // they take turns on both links
  CHECK(run_both(made).iteration_time == 2'000'000 + 100'000 + 2 * wire_latency);
}

TEST_CASE("bound ways: a program that binds any is not folded, and other laws are used") {
  ProgramCase made = sends(mesh(2, 2), {{0, 1}, {2, 3}});
  made.program.alike = {{"replicas", {{0, 1}, {2, 3}}}};
  made.program.ways = {{{0, 1, 0}, along(made.machine.network, {0, 2, 3, 1})}};
  const auto uses = sim::uses_of_laws(made.machine, made.program, {}, 1, "");
  for (const results::LawUse& use : uses) {
    if (use.name == "fold") CHECK(use.because == "the program binds ways");
    if (use.name == "trains" || use.name == "rings") CHECK(use.is_used);
  }
  CHECK(made.run().not_folded == "the program binds ways");
  sim::SimulationOptions options;
  options.fold = sim::Folding::replicas;
  CHECK(made.refusal(options) == "replicas cannot be folded: the program binds ways; \"none\" simulates them all");
}

TEST_CASE("bound ways: what is known without simulating goes the bound ways too") {
  ProgramCase made = sends(mesh(3, 2), {{0, 5}});
  const std::vector<LinkId> links = along(made.machine.network, {0, 3, 4, 1, 2, 5});
  made.program.ways = {{{0, 5, 0}, links}};
  const Time simulated = made.run().results.iteration_time;
  const PicosecondPerFlop cost;
  const auto alone = make_serial_communicator();
  const auto evaluator = sim::make_evaluator(made.machine, cost);
  for (const program::Fidelity fidelity : {program::Fidelity::estimate, program::Fidelity::lower_bound}) {
    const program::Evaluation found = evaluator->evaluate(made.program, fidelity, *alone);
    CHECK(found.time == simulated);  // alone on its way
    for (LinkId link = 0; link < found.link_bytes.size(); ++link)
      CHECK(found.link_bytes[link] == (std::ranges::find(links, link) != links.end() ? 1000 : 0));
  }
  const program::Outlook outlook = evaluator->outlook(made.program);
  CHECK(outlook.least == simulated);
  CHECK(outlook.estimate == simulated);
  const ProgramCase unbound = sends(mesh(3, 2), {{0, 5}});
  CHECK(program::search::key_of(made.program, program::Fidelity::simulated) !=
        program::search::key_of(unbound.program, program::Fidelity::simulated));
}

TEST_CASE("bound ways: random traffic goes as in the packet-by-packet reference") {
  for (std::uint64_t index = 0; index < random_cases(1000); ++index) {
    CAPTURE(index);
    const RandomCase made = random_case(500'000 + index, index % 8 == 0 ? 30 : 1);
    const std::vector<machine::BoundWay> ways = random_ways(index, made.network, made.messages);
    const TrafficResult expected = run_reference(made.network, made.messages, ways);
    REQUIRE(run_traffic(made.network, made.messages, false, ways).result == expected);
    REQUIRE(run_traffic(made.network, made.messages, true, ways).result == expected);
  }
}

TEST_CASE("bound ways: random programs of rings and messages have the same rows with all laws and none") {
  std::uint64_t bound = 0;
  for (std::uint64_t index = 0; index < random_cases(300); ++index) {
    CAPTURE(index);
    const std::uint64_t key = 600'000 + index;
    const ProgramCase made = with_random_ways(index, index % 3 == 0 ? random_large_rings(key) : random_rings(key));
    bound += made.program.ways.empty() ? 0 : 1;
    check_laws(made);
  }
  CHECK(bound > random_cases(80));
}

/// Of cases from a key on, without a site and on every kind of one, with ways bound.
template <class Made, class MadeOn, class Check>
void check_on_every_topology(std::uint64_t first_key, const Made& made, const MadeOn& made_on, const Check& check) {
  std::uint64_t bound = 0;
  for (std::uint64_t index = 0; index < random_cases(60); ++index) {
    CAPTURE(index);
    std::vector<ProgramCase> all{made(first_key + index)};
    for (const SiteKind kind : site_kinds) all.push_back(made_on(kind, first_key + index));
    for (ProgramCase& one : all) {
      const ProgramCase with_ways = with_random_ways(index, std::move(one));
      bound += with_ways.program.ways.empty() ? 0 : 1;
      check(with_ways);
    }
  }
  CHECK(bound >= random_cases(60));
}

TEST_CASE("bound ways: random replicas on every topology have the same rows with all laws and none") {
  check_on_every_topology(610'000, random_replicas, random_replicas_on, check_laws);
}

TEST_CASE("bound ways: random programs of loops have the same rows with all laws and none") {
  check_on_every_topology(620'000, random_islands, random_islands_on, check_rounds);
}
