// Many flows over one link: their times, and how few events they take.
#include <catch2/catch.hpp>
#include <numeric>

#include "random_shared_nics.hpp"
#include "support/random_cases.hpp"

using namespace tessera;
using namespace tessera::test;

namespace {

constexpr std::int64_t gigabyte = 1'000'000'000;

/// GPUs of nodes of eight exchange messages of so many bytes, each with each other one.
ProgramCase exchange(machine::NodeId nodes, std::int64_t bytes) {
  machine::Machine made;
  machine::build_cluster(small_cluster(nodes, 8), made);
  ProgramCase program(machine_of(std::move(made.network)));
  program.machine.network.packet = Bytes{packet_bytes};
  std::vector<program::DeviceId> all(program.machine.devices());
  std::iota(all.begin(), all.end(), program::DeviceId{0});
  program.group(all);
  const auto devices = static_cast<std::int64_t>(all.size());
  for (const program::DeviceId device : all) {
    program.bind(device, {program.block()
                              .collective(collective(program::CollectiveKind::all_to_all, devices * bytes, "direct"))
                              .done()});
  }
  return program;
}

/// Senders, each on its own wire of 1 GB/s to a switch, and one such wire from there to one device more; 500 ps each.
machine::Network funnel(machine::NodeId senders) {
  machine::NetworkBuilder builder(senders + 1);
  const std::uint16_t type = builder.link_class("wire");
  const machine::NodeId middle = builder.add_switch("switch");
  for (machine::NodeId from = 0; from < senders; ++from)
    builder.add_link(from, middle, BytesPerSecond{gigabyte}, Duration{500}, type);
  builder.add_link(middle, senders, BytesPerSecond{gigabyte}, Duration{500}, type);
  return finish_network(builder, 100);
}

}  // namespace

TEST_CASE("shared link: a flow that comes later leaves long runs to those that wait") {
  // A packet takes 100 ns. Three flows begin together; the third one ends after 200 packets, when 600 have come. By
  // then, 60 us, the link has sent these, and knows of a fourth flow, whose first packet came at 55.1505 us: 349 rounds
  // of the first two are before it, and are one run. The link is never idle, so the n-th packet leaves at
  // 100.5 ns + n x 100 ns: the last one of the third flow is the 600th. Before the last one of the first flow, which
  // comes at 100.0005 us, are 200 + 999 + 999 and 449 of the fourth flow; the last one of the second flow is behind it,
  // and the 51 others of the fourth are behind that.
  const TrafficRun run =
      run_traffic(funnel(4), {{0, 4, 100'000, 0}, {1, 4, 100'000, 0}, {2, 4, 20'000, 0}, {3, 4, 50'000, 55'050'000}});
  CHECK(run.result.delivered == std::vector<Time>{264'901'000, 265'001'000, 60'101'000, 270'101'000});
  CHECK(run.events < 60);
}

TEST_CASE("shared link: rings over the NIC of a node take the picoseconds of single packets") {
  for (std::uint64_t index = 0; index < random_cases(150); ++index) {
    CAPTURE(index);
    const ProgramCase made = random_shared_nics(index);
    const sim::SimulationResult packets = run_recorded(made, sim::Laws::none);
    check_same(run_recorded(made, sim::Laws::trains).results, packets.results);
    check_same(run_recorded(made, sim::Laws::all).results, packets.results);
  }
}

TEST_CASE("shared link: an exchange of messages of two packets takes few events a message") {
  // Each GPU sends a packet to each other one, and then the second packets: those are a round behind, and other
  // messages come between. Each message is told to the switch and to its destination.
  const ProgramCase made = exchange(6, 150);
  const sim::SimulationResult run = run_recorded(made, sim::Laws::all);
  check_same(run.results, run_recorded(made, sim::Laws::none).results);
  CHECK(run.statistics.events < 48 * 47 * 11 / 4);
}

TEST_CASE("shared link: exchanges of short messages take the picoseconds of single packets") {
  for (std::uint64_t index = 0; index < random_cases(200); ++index) {
    CAPTURE(index);
    const ProgramCase made = random_exchanges(index);
    check_same(run_recorded(made, sim::Laws::all).results, run_recorded(made, sim::Laws::none).results);
  }
}
