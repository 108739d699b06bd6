// Any number of ranks and either synchroniser: the same times, to the picosecond, and the same rows, bit for bit.
#include <catch2/catch.hpp>

#include "busy_program.hpp"
#include "random_replicas.hpp"
#include "random_rings.hpp"
#include "random_traffic.hpp"
#include "random_ways.hpp"
#include "same_on_ranks.hpp"
#include "support/random_cases.hpp"
#include "support/world.hpp"
#include "tessera/base/error.hpp"

using namespace tessera;
using namespace tessera::test;

TEST_CASE("random traffic on several ranks: every message arrives when the reference says, also on bound ways") {
  World world;
  for (std::uint64_t index = 0; index < random_cases(250, world.comm.size()); ++index) {
    CAPTURE(index);
    const RandomCase made = random_case(100'000 + index);
    if (made.network.devices < static_cast<machine::NodeId>(world.comm.size())) continue;
    std::vector<machine::BoundWay> ways;
    if (index >= random_cases(150, world.comm.size())) ways = random_ways(index, made.network, made.messages);
    const TrafficResult expected = run_reference(made.network, made.messages, ways);
    for (const std::string& synchroniser : pdes::synchroniser_kinds()) {
      CAPTURE(synchroniser);
      const TrafficRun run = run_traffic(made.network, made.messages, world.comm, synchroniser, false, ways);
      for (std::size_t i = 0; i < expected.delivered.size(); ++i) {
        CAPTURE(i);
        REQUIRE(world.comm.max(run.result.delivered[i]) == expected.delivered[i]);
      }
      for (std::size_t link = 0; link < expected.departures.size(); ++link) {
        if (!run.result.departures[link].empty()) REQUIRE(run.result.departures[link] == expected.departures[link]);
        REQUIRE(world.comm.max(run.result.peak_queue[link]) == expected.peak_queue[link]);
      }
    }
  }
}

namespace {

/// Whether it was folded: then its rows are those of one rank, unfolded.
bool compare_folded(const ProgramCase& made, std::uint64_t index, Communicator& comm) {
  if (made.machine.devices() < static_cast<machine::NodeId>(comm.size())) return false;
  sim::SimulationOptions options;
  options.record_timeline = options.record_memory = index % 2 == 0;
  options.allow_oversubscription = true;
  options.run.synchroniser = pdes::synchroniser_kinds()[index % pdes::synchroniser_kinds().size()];
  options.fold = sim::Folding::replicas;
  results::RunResults mine;
  std::string not_folded;
  try {
    sim::SimulationResult result = made.run(comm, options);
    mine = std::move(result.results);
    not_folded = std::move(result.not_folded);
  } catch (const InputError&) {
    return false;  // not alike, or more ranks than nodes
  }
  options.fold = sim::Folding::none;
  check_same_on_ranks(mine, made.run(options).results, comm);
  return not_folded.empty();
}

}  // namespace

TEST_CASE("what the first rank simulates alone has the rows of all ranks") {
  World world;
  for (std::uint64_t index = 0; index < random_cases(30, world.comm.size()); ++index) {
    CAPTURE(index);
    const ProgramCase made = random_rings(70'000 + index);
    if (made.machine.devices() < static_cast<machine::NodeId>(world.comm.size())) continue;
    sim::SimulationOptions options;
    options.record_timeline = options.record_memory = index % 2 == 0;
    options.allow_oversubscription = true;
    options.ranks_used = sim::RanksUsed::automatic;
    const sim::SimulationResult result = made.run(world.comm, options);
    CHECK(result.ranks_used == (world.comm.size() > 1 ? 1 : 0));
    check_same_on_ranks(result.results, made.run(options).results, world.comm);
  }
}

TEST_CASE("folded replicas on several ranks: the rows are those of one, unfolded") {
  World world;
  std::uint64_t folded = 0;
  for (std::uint64_t index = 0; index < random_cases(100, world.comm.size()); ++index) {
    CAPTURE(index);
    if (compare_folded(random_replicas(50'000 + index), index, world.comm)) ++folded;
  }
  CHECK(folded > random_cases(30, world.comm.size()));
}

TEST_CASE("replicas that cannot be folded because of ties, on several ranks: all are simulated, with the rows of one") {
  World world;
  CHECK_FALSE(compare_folded(random_replicas(50), 0, world.comm));
}

TEST_CASE("folded replicas on sites of every kind: the rows of several ranks are those of one") {
  World world;
  std::uint64_t folded = 0;
  for (const SiteKind kind : site_kinds) {
    for (std::uint64_t index = 0; index < random_cases(30, world.comm.size()); ++index) {
      CAPTURE(static_cast<int>(kind), index);
      if (compare_folded(random_replicas_on(kind, 50'000 + index), index, world.comm)) ++folded;
    }
  }
  CHECK(folded >= random_cases(9, world.comm.size()));
}

TEST_CASE("a program with everything in it: the rows of several ranks are those of one") {
  World world;
  for (const machine::NodeId nodes : {2U, 4U}) {
    const ProgramCase made = busy_program(nodes, 5);
    sim::SimulationOptions options;
    options.record_timeline = true;
    options.record_memory = true;
    const results::RunResults serial = made.run(options).results;
    for (const std::string& synchroniser : pdes::synchroniser_kinds()) {
      for (const char* partition : {"auto", "block", "metis"}) {
        CAPTURE(nodes, synchroniser, partition);
        options.run.synchroniser = synchroniser;
        options.partition = partition;
        const results::RunResults mine = made.run(world.comm, options).results;
        check_same_on_ranks(mine, serial, world.comm);
      }
    }
  }
}

TEST_CASE("random ring collectives: the rows of several ranks are those of one") {
  World world;
  for (std::uint64_t index = 0; index < random_cases(100, world.comm.size()); ++index) {
    const ProgramCase made = index % 3 == 0 ? random_large_rings(100'000 + index) : random_rings(100'000 + index);
    if (made.machine.devices() < static_cast<machine::NodeId>(world.comm.size())) continue;
    sim::SimulationOptions options;
    options.record_timeline = true;
    const results::RunResults serial = made.run(options).results;
    for (const std::string& synchroniser : pdes::synchroniser_kinds()) {
      CAPTURE(index, synchroniser);
      options.run.synchroniser = synchroniser;
      const results::RunResults mine = made.run(world.comm, options).results;
      check_same_on_ranks(mine, serial, world.comm);
    }
  }
}

TEST_CASE("random collectives of rectangles and by links: the rows of several ranks are those of one") {
  World world;
  for (const SiteKind kind : site_kinds) {
    const bool is_grid = kind == SiteKind::mesh || kind == SiteKind::torus || kind == SiteKind::torus_3d;
    for (std::uint64_t index = 0; index < random_cases(60, world.comm.size()); ++index) {
      const ProgramCase made = is_grid && index % 2 == 0 ? random_rectangles(kind, 120'000 + index / 2)
                                                         : random_by_links(kind, 120'000 + index);
      if (made.machine.devices() < static_cast<machine::NodeId>(world.comm.size())) continue;
      sim::SimulationOptions options;
      options.record_timeline = true;
      const results::RunResults serial = made.run(options).results;
      for (const std::string& synchroniser : pdes::synchroniser_kinds()) {
        CAPTURE(static_cast<int>(kind), index, synchroniser);
        options.run.synchroniser = synchroniser;
        check_same_on_ranks(made.run(world.comm, options).results, serial, world.comm);
      }
    }
  }
}

TEST_CASE("packet by packet, whichever way links arbitrate: the rows of several ranks are those of one") {
  World world;
  for (std::uint64_t index = 0; index < random_cases(40, world.comm.size()); ++index) {
    ProgramCase made = random_rings(110'000 + index);
    made.machine.network.arbitration = index % 2 == 0 ? "fifo" : "round-robin";
    if (made.machine.devices() < static_cast<machine::NodeId>(world.comm.size())) continue;
    sim::SimulationOptions options;
    options.laws = index % 4 < 2 ? sim::Laws::none : sim::laws_named("promises");
    options.run.synchroniser = pdes::synchroniser_kinds()[index / 4 % pdes::synchroniser_kinds().size()];
    options.record_timeline = true;
    const results::RunResults serial = made.run(options).results;
    CAPTURE(index);
    check_same_on_ranks(made.run(world.comm, options).results, serial, world.comm);
  }
}

TEST_CASE("a deadlock is the same on any number of ranks, and thrown on all of them") {
  World world;
  ProgramCase made(12);
  for (program::DeviceId device = 0; device < 12; ++device) {
    const auto wait =
        made.block("main " + std::to_string(device)).compute(work(device)).receive((device + 11) % 12, Bytes{1});
    made.bind(device, {program::BlockBuilder(wait).send((device + 1) % 12, Bytes{1}).done()});
  }
  const std::string serial = made.refusal();
  REQUIRE(serial.substr(0, 53) == "deadlock: gpu 0 waits since 0 ps for 1 B from gpu 11 ");
  std::string text;
  try {
    static_cast<void>(made.run(world.comm, {}));
  } catch (const InfeasibleError& error) {
    text = error.what();
  }
  CHECK(text == serial);
}

TEST_CASE("what streams hold together is refused alike on all ranks: the earliest device, of equals the first") {
  World world;
  // Every device's second stream adds 400,000 B to the first one's 700,000, of 1 MB: the last two devices at once, the
  // others later.
  ProgramCase made(6);
  for (program::DeviceId device = 0; device < 6; ++device) {
    const auto main = made.block("main")
                          .allocate(program::MemoryCategory::weights, Bytes{700'000})
                          .wait(0)
                          .release(program::MemoryCategory::weights, Bytes{700'000})
                          .done();
    const auto other = made.block("other " + std::to_string(device))
                           .compute(work(device < 4 ? 2000 - device : 1000))
                           .allocate(program::MemoryCategory::buffers, Bytes{400'000})
                           .signal(0)
                           .release(program::MemoryCategory::buffers, Bytes{400'000})
                           .done();
    made.bind(device, {main, other}, 1);
  }
  for (const char* synchroniser : {"window", "null-message"}) {
    sim::SimulationOptions options;
    options.run.synchroniser = synchroniser;
    std::string refusal;
    try {
      static_cast<void>(made.run(world.comm, options));
    } catch (const InfeasibleError& error) {
      refusal = error.what();
    }
    CHECK(refusal ==
          "device gpu 4 needs 1.10 MB but has 1.00 MB (100 kB too much): weights 700 kB, buffers 400 kB, at 1 ns; "
          "--allow-oversubscription simulates it anyway");
    options.allow_oversubscription = true;
    const auto run = made.run(world.comm, options);
    CHECK(run.warnings ==
          std::vector<std::string>{
              "device gpu 0 needs 1.10 MB but has 1.00 MB (100 kB too much): weights 700 kB, buffers 400 kB"});
  }
}
