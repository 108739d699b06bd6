// What ranks promise each other is true: every message that crosses ranks takes place no earlier than its rank was
// taken to promise when the window was agreed on. The engine looks at each of them and ends the run otherwise.
#include <catch2/catch.hpp>

#include "busy_program.hpp"
#include "machine/networks/ring_network.hpp"
#include "random_rings.hpp"
#include "support/random_cases.hpp"

using namespace tessera;
using namespace tessera::test;

namespace {

struct Windows {
  std::uint64_t count = 0, events = 0;
  Time iteration_time = 0;
};

Windows on_ranks(const ProgramCase& made, int ranks, const sim::SimulationOptions& options) {
  Windows windows;
  Time horizon = 0;
  const auto done = sim::simulate_side_by_side(made.machine, made.program, PicosecondPerFlop(), ranks, options,
                                               [&](const pdes::Window& window) {
                                                 CHECK(window.begin >= horizon);
                                                 CHECK(window.horizon > window.begin);
                                                 horizon = window.horizon;
                                                 ++windows.count;
                                                 for (const std::uint64_t events : window.events)
                                                   windows.events += events;
                                               });
  CHECK(done.ranks.size() == static_cast<std::size_t>(ranks));
  std::uint64_t events = 0;
  for (const pdes::RunStatistics& rank : done.ranks) {
    CHECK(rank.rounds == windows.count);
    events += rank.events;
  }
  CHECK(events == windows.events);
  windows.iteration_time = done.iteration_time;
  return windows;
}

}  // namespace

TEST_CASE("random programs on two ranks to as many as devices: promises hold, and the time is that of one rank") {
  for (std::uint64_t index = 0; index < random_cases(1000); ++index) {
    const ProgramCase made = random_rings(500'000 + index);
    const Time serial = made.run().results.iteration_time;
    const auto devices = static_cast<int>(made.machine.devices());
    for (const int ranks : {2, 3, devices}) {
      if (ranks > devices) continue;
      CAPTURE(index, ranks);
      sim::SimulationOptions options;
      options.laws = index % 4 == 0 ? sim::Laws::trains : sim::Laws::all;
      REQUIRE(on_ranks(made, ranks, options).iteration_time == serial);
    }
  }
}

TEST_CASE("random programs on 7 to 18 devices: rings over two to four ranks") {
  for (std::uint64_t index = 0; index < random_cases(120); ++index) {
    const ProgramCase made = random_large_rings(600'000 + index);
    const Time serial = made.run().results.iteration_time;
    for (const int ranks : {2, 3, 4}) {
      CAPTURE(index, ranks);
      sim::SimulationOptions options;
      options.partition = index % 2 == 0 ? "auto" : "block";
      REQUIRE(on_ranks(made, ranks, options).iteration_time == serial);
    }
  }
}

TEST_CASE("a ring over two ranks has events where it leaves one, and for its members to begin and end") {
  machine::Machine ring;
  machine::build_ring(12, {BytesPerSecond{1'000'000'000}, Duration{500}, true}, "wire", ring);
  ProgramCase made(machine_of(std::move(ring.network)));
  made.machine.network.packet = Bytes{100};
  std::vector<program::DeviceId> all;
  for (program::DeviceId device = 0; device < 12; ++device) all.push_back(device);
  made.group(all);
  const auto sum = collective(program::CollectiveKind::all_reduce, 1200, "ring", 0);
  for (const program::DeviceId device : all) made.bind(device, {made.block().collective(sum).done()});
  sim::SimulationOptions options;
  options.partition = "block";
  const Windows laws = on_ranks(made, 2, options);
  options.laws = sim::Laws::trains;
  const Windows steps = on_ranks(made, 2, options);
  CHECK(laws.iteration_time == steps.iteration_time);
  // Step by step each of 12 members begins, gets 22 messages, and adds what 11 of them bring: 12 x (1 + 22 + 11).
  CHECK(steps.events == 408);
  // Devices 0, 5, 6 and 11 have a neighbour on the other rank and go step by step, 4 x 34; the others begin and end.
  CHECK(laws.events == 4 * 34 + 8 * 2);
}

TEST_CASE("a program with everything in it on up to 16 ranks and with three partitions") {
  const ProgramCase made = busy_program(4, 5);
  const Time serial = made.run().results.iteration_time;
  for (const int ranks : {2, 3, 4, 7, 16}) {
    for (const char* partition : {"auto", "block", "metis"}) {
      CAPTURE(ranks, partition);
      sim::SimulationOptions options;
      options.partition = partition;
      CHECK(on_ranks(made, ranks, options).iteration_time == serial);
    }
  }
}

TEST_CASE("who waits for another rank does not narrow the windows") {
  // Of two ranks with three devices each. Device 3 waits in an all-reduce for device 0 on the other rank, which
  // computes for 1 ms first; beside it devices 4 and 5 have a collective every microsecond, and the latency is 500 ps.
  ProgramCase made(6);
  made.group({0, 3});
  made.group({4, 5});
  const auto across = collective(program::CollectiveKind::all_reduce, 100, "ring", 0);
  made.bind(0, {made.block("late").compute(work(1'000'000'000)).collective(across).done()});
  made.bind(3, {made.block("waits").collective(across).done()});
  const auto beside = collective(program::CollectiveKind::all_reduce, 100, "ring", 1);
  for (const program::DeviceId device : {4U, 5U}) {
    program::BlockBuilder block = made.block("beside " + std::to_string(device));
    for (int i = 0; i < 1000; ++i) block.compute(work(1'000'000)).collective(beside);
    made.bind(device, {block.done()});
  }
  sim::SimulationOptions options;
  options.partition = "block";
  CHECK(on_ranks(made, 2, options).count < 20);
}
