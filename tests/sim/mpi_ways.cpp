// Ways that a program binds, on any number of ranks.
#include <catch2/catch.hpp>

#include "machine/networks/ring_network.hpp"
#include "random_replicas.hpp"
#include "random_rings.hpp"
#include "random_ways.hpp"
#include "same_on_ranks.hpp"
#include "support/random_cases.hpp"
#include "support/world.hpp"

using namespace tessera;
using namespace tessera::test;

TEST_CASE("bound ways: the rows of several ranks are those of one, whatever is promised") {
  World world;
  for (std::uint64_t index = 0; index < random_cases(100, world.comm.size()); ++index) {
    const std::uint64_t key = 640'000 + index;
    ProgramCase made = index % 3 == 0   ? random_replicas_on(site_kinds[index / 3 % site_kinds.size()], key)
                       : index % 3 == 1 ? random_large_rings(key)
                                        : random_rings(key);
    made = with_random_ways(index, std::move(made));
    if (made.machine.devices() < static_cast<machine::NodeId>(world.comm.size())) continue;
    sim::SimulationOptions options;
    options.record_timeline = true;
    options.laws = index % 5 == 0 ? sim::laws_named("promises") : sim::Laws::all;
    const results::RunResults serial = made.run(options).results;
    for (const std::string& synchroniser : pdes::synchroniser_kinds()) {
      CAPTURE(index, synchroniser);
      options.run.synchroniser = synchroniser;
      check_same_on_ranks(made.run(world.comm, options).results, serial, world.comm);
    }
  }
}

TEST_CASE("bound ways: a message that crosses ranks on its bound way alone is part of what its sender promises") {
  // A ring of eight: what 0 sends to 1 after 1 ms goes all the way round, over the others, which have exchanged
  // messages in pairs every 10 us for as long again.
  machine::Machine ring;
  machine::build_ring(8, {BytesPerSecond{second / byte_time}, Duration{wire_latency}, true}, "wire", ring);
  ring.network.packet = Bytes{packet_bytes};
  ProgramCase made(machine_of(ring.network));
  const auto bind = [&](program::DeviceId device, program::DeviceId peer, program::BlockId block) {
    made.bind(device, {block});
    std::vector<program::DeviceId>& peers = made.program.devices[device].peers;
    for (program::DeviceId& other : peers) other = other == peer ? peer : program::no_device;
  };
  bind(0, 1, made.block().compute(work(millisecond)).send(1, Bytes{1000}).done());
  bind(1, 0, made.block().receive(0, Bytes{1000}).done());
  for (program::DeviceId device = 2; device < 8; ++device) {
    const program::DeviceId peer = device ^ 1U;
    const auto round = made.block("round").compute(work(10 * microsecond)).send(peer, Bytes{100});
    bind(device, peer, made.block().call(program::BlockBuilder(round).receive(peer, Bytes{100}).done(), 200).done());
  }
  std::vector<machine::LinkId> links;
  for (program::DeviceId device = 8; device > 1; --device)
    links.push_back(machine::Routes(ring.network).links(device % 8, device - 1)[0]);
  made.program.ways = {{{0, 1, 0}, links}};
  const results::RunResults serial = made.run().results;
  World world;
  for (const std::string& synchroniser : pdes::synchroniser_kinds()) {
    sim::SimulationOptions options;
    options.run.synchroniser = synchroniser;
    check_same_on_ranks(made.run(world.comm, options).results, serial, world.comm);
  }
}
