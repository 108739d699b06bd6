// All ranks end together, with the same error, whatever goes wrong on one of them.
#include <catch2/catch.hpp>

#include "actors.hpp"
#include "relay_model.hpp"
#include "support/world.hpp"

namespace {

using namespace tessera;
using namespace tessera::pdes;
using namespace tessera::pdes::test;

}  // namespace

TEST_CASE("an error of a component ends all ranks with the message that one rank would give") {
  tessera::test::World world;
  for (const ComponentId failing : {0U, 11U, 23U}) {
    RelayRules rules;
    rules.failing = failing;
    rules.fails_at = 1'500;
    const ModelGraph model = relay_ring(24, 3, rules);
    const std::string serial = message_of<InfeasibleError>([&] { run_serially(model); });
    REQUIRE(serial.substr(0, 10) == "component ");
    for (const std::string& synchroniser : synchroniser_kinds()) {
      INFO(synchroniser << " " << failing);
      RunOptions options;
      options.synchroniser = synchroniser;
      const Partition partition = make_partition(model, world.comm.size(), "block");
      CHECK(message_of<InfeasibleError>([&] { run(model, partition, world.comm, options); }) == serial);
    }
  }
}

TEST_CASE("the earliest error wins, although another rank fails first in its own course") {
  // The last actor fails at 5,000 in its first window, since it has no other event; actor 0 fails at 1,000, after ten
  // rounds of asking the others.
  tessera::test::World world;
  const auto ranks = static_cast<ComponentId>(world.comm.size());
  std::vector<Script> scripts(ranks + 1);
  scripts[0].start = [](Context& context) { context.schedule(0, Word{}); };
  scripts[0].handle = [](Context& context, const Event&) {
    if (context.now() == 1'000) throw InfeasibleError("early");
    context.schedule(context.now() + 100, Word{});
  };
  scripts[ranks].start = [](Context& context) { context.schedule(5'000, Word{}); };
  scripts[ranks].handle = [](Context&, const Event&) { throw InfeasibleError("late"); };
  std::vector<LinkInfo> links;
  for (ComponentId id = 0; id < ranks; ++id) links.push_back({id, id + 1, 10});
  const ModelGraph model = actors(scripts, links);
  for (const std::string& synchroniser : synchroniser_kinds()) {
    RunOptions options;
    options.synchroniser = synchroniser;
    CHECK(message_of<InfeasibleError>([&] {
            Simulation simulation(model, make_partition(model, world.comm.size(), "block"), world.comm);
            simulation.run(options);
          }) == "early");
  }
}

TEST_CASE("an error while components are created or started ends all ranks") {
  tessera::test::World world;
  RelayRules rules;
  ModelGraph model = relay_ring(24, 1, rules);
  const Partition partition = make_partition(model, world.comm.size(), "block");
  const auto create = model.create;
  model.create = [&](ComponentId id) {
    if (id == 17) throw InputError("component 17 cannot be made");
    return create(id);
  };
  CHECK(message_of<InputError>([&] { run(model, partition, world.comm, {}); }) == "component 17 cannot be made");

  std::vector<Script> scripts(static_cast<std::size_t>(world.comm.size()));
  for (Script& script : scripts) {
    script.start = [](Context& context) {
      throw InputError("actor " + std::to_string(context.self()) + " cannot start");
    };
  }
  const ModelGraph failing = actors(scripts, {});
  CHECK(message_of<InputError>([&] {
          Simulation simulation(failing, make_partition(failing, world.comm.size(), "block"), world.comm);
          simulation.run({});
        }) == "actor 0 cannot start");
}

TEST_CASE("an interruption of one rank ends all of them") {
  tessera::test::World world;
  RelayRules rules;
  rules.hops = 1'000'000'000;  // would take hours
  const ModelGraph model = relay_ring(24, 3, rules);
  for (const std::string& synchroniser : synchroniser_kinds()) {
    int asked = 0;
    RunOptions options;
    options.synchroniser = synchroniser;
    if (world.comm.rank() == world.comm.size() - 1) options.interrupted = [&] { return ++asked > 20; };
    const Partition partition = make_partition(model, world.comm.size(), "block");
    CHECK(message_of<IoError>([&] { run(model, partition, world.comm, options); }) == "the run was interrupted");
  }
}

TEST_CASE("a partition that cuts a link without latency is refused") {
  tessera::test::World world;
  if (world.comm.size() == 1) return;
  const ModelGraph model = relay_ring(24, 3, {});
  Partition partition = make_partition(model, world.comm.size(), "block");
  partition.rank_of[1] = static_cast<std::uint16_t>(world.comm.size() - 1);  // out of its group
  CHECK(message_of<InputError>([&] { run(model, partition, world.comm, {}); }) ==
        "the link from relay 0 to relay 1 has no latency, but the two are on different ranks");
}
