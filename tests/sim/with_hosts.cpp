// Hosts in programs: what they send takes by hand, what they hold, what they are refused, and what is not folded.
#include <catch2/catch.hpp>

#include <numeric>

#include "dies_with_hosts.hpp"
#include "machine/networks/side_by_side_network.hpp"
#include "sim/laws/fold/find_fold.hpp"
#include "sim/run/evaluation/device_classes.hpp"
#include "tessera/program/evaluator.hpp"

using namespace tessera;
using namespace tessera::test;
using machine::NodeId;
using program::MemoryCategory;

namespace {

constexpr NodeId first_host = 2;

/// Hosts linked to these dies each.
machine::Machine dies_with_hosts(const std::vector<std::vector<NodeId>>& ends = {{0}}, int dies = 2) {
  std::vector<machine::HostShape> hosts;
  for (const std::vector<NodeId>& linked : ends) hosts.push_back(host_at(linked));
  return test::dies_with_hosts(dies, hosts);
}

/// The host sends 1,000 B to a die, which waits for them.
ProgramCase read_by(NodeId die) {
  ProgramCase made(dies_with_hosts());
  made.bind(first_host, {made.block("host")
                             .allocate(MemoryCategory::weights, Bytes{1'500'000})
                             .send(die, Bytes{1000})
                             .wait_sends()
                             .release(MemoryCategory::weights, Bytes{1'500'000})
                             .done()});
  made.bind(die, {made.block("die").receive(first_host, Bytes{1000}).compute(work(300)).done()});
  return made;
}

}  // namespace

TEST_CASE("hosts: a read takes what its links take") {
  for (const sim::Laws laws : {sim::Laws::all, sim::Laws::none}) {
    // 1,000 B at 500 ps a byte, and 700 ps behind them; then 300 ps of work.
    CHECK(run_recorded(read_by(0), laws).results.iteration_time == 500'000 + 700 + 300);
    // The first packet is at die (0,0) after 50,700 ps. Its link is slower than the host's: ten packets follow each
    // other on it, 100,000 ps each.
    CHECK(run_recorded(read_by(1), laws).results.iteration_time == 50'700 + 1'000'000 + 500 + 300);
  }
}

TEST_CASE("hosts: asked for, a read begins when the request is there") {
  ProgramCase made(dies_with_hosts());
  made.bind(first_host, {made.block("host").receive(0, Bytes{100}).send(0, Bytes{1000}).done()});
  made.bind(0, {made.block("die").send(first_host, Bytes{100}).receive(first_host, Bytes{1000}).done()});
  // There 100 B at 500 ps and 700 ps, back 1,000 B and 700 ps.
  CHECK(run_recorded(made, sim::Laws::all).results.iteration_time == 50'700 + 500'700);
}

TEST_CASE("hosts: streams that wait until their messages have left are called once each") {
  constexpr std::uint32_t dies = 16, times = 5;
  std::vector<NodeId> all(dies);
  std::iota(all.begin(), all.end(), NodeId{0});
  ProgramCase made(dies_with_hosts({all}, dies));
  program::DeviceProgram host;
  // Two messages take turns on the way to die 0: as long as that goes on, nobody knows when the second one has left.
  for (std::uint32_t stream = 0; stream <= dies; ++stream) {
    const std::uint32_t die = stream % dies, channel = stream / dies;
    const Bytes bytes{500 * (1 + die)};
    const program::BlockId once = made.block("to a die").send(die, bytes, channel).wait_sends().done();
    host.streams.push_back(made.block("all to a die").call(once, times).done());
    program::BlockBuilder receiver = made.block("die");
    receiver.receive(0, bytes, 0);
    if (die == 0) receiver.receive(0, bytes, 1);
    const program::BlockId all_of_it = made.block("all of a die").call(receiver.done(), times).done();
    if (channel == 0) made.program.devices[die] = {{all_of_it}, {dies}, {}, 0};
  }
  host.peers = all;
  made.program.devices[dies] = host;
  for (const sim::Laws laws : {sim::Laws::all, sim::Laws::none}) {
    const sim::SimulationResult result = run_recorded(made, laws);
    CHECK(result.results.iteration_time == times * 500 * dies * 500 + 700);
    // Packet by packet 3,425 of them, each with an event at either end at most, and a call or two of each stream and
    // die a message.
    CHECK(result.statistics.events < (laws == sim::Laws::all ? 500 : 8000));
  }
}

TEST_CASE("hosts: results have each device's own memory, and count accelerators") {
  const results::RunResults results = run_recorded(read_by(0), sim::Laws::all).results;
  CHECK(results.devices == 1);
  REQUIRE(results.device_rows.size() == 2);
  const results::DeviceRow &die = results.device_rows[0], &host = results.device_rows[1];
  CHECK(die.kind == 0);
  CHECK(die.memory_capacity == 1'000'000);
  CHECK(host.device == first_host);
  CHECK(host.kind == 1);
  CHECK(host.memory_capacity == 2'000'000);
  CHECK(host.memory_reserve == 100'000);
  CHECK(host.peak_memory == 1'500'000);
  // In the order of nodes: the host comes behind the dies.
  CHECK(results.node_names == std::vector<std::string>{"die 0", "die 1", "host 0"});
}

TEST_CASE("hosts: memory is refused by what the device itself has") {
  const auto holding = [](std::int64_t on_die, std::int64_t on_host) {
    ProgramCase made(dies_with_hosts());
    for (const auto& [device, bytes] : {std::pair(NodeId{0}, on_die), std::pair(first_host, on_host)}) {
      made.bind(device, {made.block("main " + std::to_string(device))
                             .allocate(MemoryCategory::weights, Bytes{bytes})
                             .release(MemoryCategory::weights, Bytes{bytes})
                             .done()});
    }
    return made;
  };
  CHECK(holding(1'000'000, 1'900'000).refusal().empty());
  CHECK(holding(1'000'001, 1'900'000).refusal() ==
        "device die 0 needs 1.00 MB but has 1.00 MB (1 B too much): weights 1.00 MB; --allow-oversubscription "
        "simulates it anyway");
  // Of two, the one that lacks more.
  CHECK(
      holding(1'000'001, 2'000'000).refusal() ==
      "device host 0 needs 2.00 MB but has 1.90 MB (2.00 MB less a reserve of 100 kB) (100 kB too much): weights 2.00 "
      "MB; --allow-oversubscription simulates it anyway");
  const ProgramCase fits = holding(900'000, 1'800'000);
  const auto alone = make_serial_communicator();
  for (const program::Fidelity fidelity :
       {program::Fidelity::lower_bound, program::Fidelity::estimate, program::Fidelity::simulated}) {
    const auto found = sim::make_evaluator(fits.machine, PicosecondPerFlop{})->evaluate(fits.program, fidelity, *alone);
    CHECK(found.peak_memory == std::vector<std::int64_t>{900'000, 0, 1'800'000});
    CHECK(found.most_memory() == 900'000);  // of what computes
  }
}

TEST_CASE("hosts: what computes, and collectives, are refused before time zero") {
  ProgramCase made(dies_with_hosts());
  made.bind(first_host, {made.block("host").compute(work(5)).done()});
  CHECK(made.refusal() == "host 0 has no compute and cannot run operator \"work\"");
  ProgramCase inside(dies_with_hosts());
  const program::BlockId body = inside.block("body").compute(work(5)).done();
  inside.bind(first_host, {inside.block("host").call(body, 3).done()});
  CHECK(inside.refusal() == "host 0 has no compute and cannot run operator \"work\"");
  ProgramCase together(dies_with_hosts());
  together.group({0, first_host});
  for (const NodeId device : {NodeId{0}, first_host}) {
    together.bind(device, {together.block("main " + std::to_string(device))
                               .collective(collective(program::CollectiveKind::all_reduce, 1000, "ring"))
                               .done()});
  }
  CHECK(together.refusal() ==
        "group [0, 2]: host 0 has no compute and carries out no collectives\n"
        "host 0 has no compute and cannot run all-reduce");
}

TEST_CASE("hosts: no way is bound through one") {
  // From die 0 to die 1 there is a link; over the host, which is linked to both, there is none.
  ProgramCase made(dies_with_hosts({{0, 1}}));
  made.bind(0, {made.block("sender").send(1, Bytes{10}).done()});
  made.bind(1, {made.block("receiver").receive(0, Bytes{10}).done()});
  const machine::Routes routes(made.machine.network);
  made.program.ways = {{{0, 1, 0}, {routes.links(0, first_host).front(), routes.links(first_host, 1).front()}}};
  CHECK(made.refusal() == "the way from device 0 to device 1 on channel 0 passes host 0, which passes nothing on");
}

TEST_CASE("hosts: a slow die and a host have costs of their own") {
  ProgramCase made = read_by(0);
  made.machine.speed[0] = 0.5;
  CHECK(run_recorded(made, sim::Laws::all).results.iteration_time == 500'000 + 700 + 600);
}

TEST_CASE("wafers: a stage boundary over two wafers takes what the joint takes") {
  // Two wafers of 2 x 1 dies at 1,000 ps a byte and 500 ps, joined at 2,000 ps a byte and 700 ps.
  machine::Machine made;
  machine::build_joined({2, 1, false, 2}, {BytesPerSecond{second / byte_time}, Duration{wire_latency}},
                        {BytesPerSecond{500'000'000}, Duration{700}}, made);
  made.network.packet = Bytes{packet_bytes};
  const auto sent = [&](NodeId from, NodeId to) {
    ProgramCase made_case(machine_of(made.network));
    made_case.bind(from, {made_case.block("stage").send(to, Bytes{1000}).done()});
    made_case.bind(to, {made_case.block("next").receive(from, Bytes{1000}).done()});
    return run_recorded(made_case, sim::Laws::all).results.iteration_time;
  };
  CHECK(sent(1, 2) == 2'000'000 + 700);
  // A die further on either side: the first packet is at the joint after 100,500 ps, the last one goes on behind it.
  CHECK(sent(0, 3) == 100'500 + 2'000'000 + 700 + 100'500);
}

TEST_CASE("fold: parts that map hosts on hosts are folded, those that map a host on a die are not") {
  ProgramCase two(dies_with_hosts({{0}, {1}}));
  const program::BlockId send = two.block("host").send(0, Bytes{1000}).done(),
                         receive = two.block("die").receive(0, Bytes{1000}).compute(work(300)).done();
  for (const NodeId die : {0U, 1U}) {
    two.program.devices[die] = {{receive}, {first_host + die}, {}, 0};
    two.program.devices[first_host + die] = {{send}, {die}, {}, 0};
  }
  two.program.alike = {{"replicas", {{0, 2}, {1, 3}}}};
  sim::SimulationOptions options;
  options.fold = sim::Folding::replicas;
  const sim::SimulationResult folded = two.run(options);
  CHECK(folded.not_folded.empty());
  options.fold = sim::Folding::none;
  check_same(folded.results, two.run(options).results);
  CHECK(folded.results.device_rows[3].kind == 1);
  CHECK(folded.results.device_rows[3].memory_capacity == 2'000'000);

  // A die and a host that do the same: each sends to the other one and waits.
  ProgramCase mixed(dies_with_hosts());
  const program::BlockId same = mixed.block("same").send(0, Bytes{1000}).receive(0, Bytes{1000}).done();
  mixed.program.devices[0] = {{same}, {first_host}, {}, 0};
  mixed.program.devices[first_host] = {{same}, {0}, {}, 0};
  const program::AlikeParts parts{"replicas", {{0}, {first_host}}};
  program::Lowerings lowerings(mixed.program, mixed.machine);
  const sim::FoundFold found =
      sim::find_fold(mixed.machine, lowerings, sim::NetworkTables(mixed.machine.network), parts);
  CHECK(found.fold == nullptr);
  CHECK(found.problem == "die 0 and host 0 are devices of different kinds");
  const auto classes = sim::device_classes(mixed.machine, mixed.program, true);
  REQUIRE(classes);
  CHECK(classes->members == std::vector<std::vector<program::DeviceId>>{{0}, {first_host}});
}
