// Components that are nowhere, or stand for others.
#include <catch2/catch.hpp>

#include "actors.hpp"

namespace {

using namespace tessera;
using namespace tessera::pdes;
using namespace tessera::pdes::test;
using Log = std::vector<std::string>;

RunOptions until(Time end) {
  RunOptions options;
  options.end = end;
  return options;
}

}  // namespace

TEST_CASE("a component that is nowhere is not made") {
  // Two actors pass a word on to each other over 10 ps.
  const auto comm = make_serial_communicator();
  std::vector<Script> scripts(2);
  for (Script& script : scripts) {
    script.handle = [](Context& context, const Event& event) {
      context.send(OutPort{0}, context.now() + 10, event.as<Word>());
    };
  }
  scripts[0].start = [](Context& context) { context.schedule(0, Word{0}); };
  ModelGraph larger = actors(scripts, {{0, 1, 10}, {1, 0, 10}});
  larger.components = 3;
  larger.create = [&](ComponentId id) {
    REQUIRE(id < 2);
    return std::make_unique<Actor>(scripts[id]);
  };
  Simulation simulation(larger, {1, {0, 0, Partition::nowhere}}, *comm);
  CHECK(simulation.run(until(50)).events == 5);
  CHECK(simulation.local_ids() == std::vector<ComponentId>{0, 1});
}

TEST_CASE("what is sent in the name of another component is ordered by its number") {
  // Actors 1 and 2 send to actor 0 for the same time; what actor 1 sends for component 7 comes behind.
  Log log;
  std::vector<Script> scripts(3);
  scripts[0].handle = [&](Context&, const Event& event) {
    log.push_back(std::to_string(event.source) + ": " + std::to_string(event.as<Word>().value));
  };
  scripts[1].start = [](Context& context) {
    context.send_as(7, OutPort{0}, 10, Word{1});
    context.send(OutPort{0}, 10, Word{2});
  };
  scripts[2].start = [](Context& context) { context.send(OutPort{0}, 10, Word{3}); };
  static_cast<void>(play(actors(scripts, {{1, 0, 10}, {2, 0, 10}})));
  CHECK(log == Log{"1: 2", "2: 3", "7: 1"});
}
