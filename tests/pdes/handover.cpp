// A simulation that goes on from where another one has come to; components that are nowhere, or stand for others.
#include <catch2/catch.hpp>

#include "actors.hpp"

namespace {

using namespace tessera;
using namespace tessera::pdes;
using namespace tessera::pdes::test;
using Log = std::vector<std::string>;

/// Two actors that pass a count on to each other over 10 ps, from time 0 on.
struct Counting {
  Counting() {
    for (Script& script : scripts) {
      script.handle = [this](Context& context, const Event& event) {
        const auto value = event.as<Word>().value;
        log.push_back(std::to_string(context.now()) + " " + std::to_string(context.self()) + ": " +
                      std::to_string(value) + ", number " + std::to_string(event.sequence) + " of " +
                      std::to_string(event.source));
        context.send(OutPort{0}, context.now() + 10, Word{value + 1});
      };
    }
    scripts[0].start = [](Context& context) { context.schedule(0, Word{0}); };
  }
  [[nodiscard]] ModelGraph model() const { return actors(scripts, {{0, 1, 10}, {1, 0, 10}}); }

  std::vector<Script> scripts = std::vector<Script>(2);
  Log log;
};

RunOptions until(Time end) {
  RunOptions options;
  options.end = end;
  return options;
}

}  // namespace

TEST_CASE("a simulation goes on from the events and numbers of another one") {
  const auto comm = make_serial_communicator();
  Counting whole;
  const ModelGraph model = whole.model();
  Simulation alone(model, make_partition(model, 1, "auto"), *comm);
  static_cast<void>(alone.run(until(50)));

  Counting first, second;
  const ModelGraph before = first.model(), behind = second.model();
  Simulation one(before, make_partition(before, 1, "auto"), *comm);
  static_cast<void>(one.run(until(20)));
  // At 0 and 10 actor 0 and 1 have handled an event each; actor 0 has made two, to itself and to actor 1.
  CHECK(first.log == Log{"0 0: 0, number 0 of 0", "10 1: 1, number 1 of 0"});
  CHECK(one.sequence(0) == 2);
  CHECK(one.sequence(1) == 1);
  Simulation other(behind, make_partition(behind, 1, "auto"), *comm);
  for (const ComponentId id : {0U, 1U}) other.go_on(id, one.sequence(id));
  REQUIRE(one.pending().size() == 1);
  for (const Event& event : one.pending()) other.put(event, event.as<Word>());
  static_cast<void>(other.run(until(50)));
  // Nothing is started anew, and what follows has the numbers that it has in one simulation.
  Log both = first.log;
  both.insert(both.end(), second.log.begin(), second.log.end());
  CHECK(both == whole.log);
  CHECK(whole.log.back() == "40 0: 4, number 1 of 1");
}

TEST_CASE("between runs, components act at a time of their own") {
  const auto comm = make_serial_communicator();
  Counting counting;
  const ModelGraph model = counting.model();
  Simulation simulation(model, make_partition(model, 1, "auto"), *comm);
  static_cast<void>(simulation.run(until(20)));
  simulation.act(15, [](Context& context) { context.of(1).resend(0, 17, Word{100}); });
  static_cast<void>(simulation.run(until(20)));
  CHECK(counting.log.back() == "17 0: 100, number 1 of 1");
}

TEST_CASE("a component that is nowhere is not made") {
  const auto comm = make_serial_communicator();
  Counting counting;
  const ModelGraph model = counting.model();
  ModelGraph larger = actors(counting.scripts, model.links);
  larger.components = 3;
  larger.create = [&](ComponentId id) {
    REQUIRE(id < 2);
    return std::make_unique<Actor>(counting.scripts[id]);
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
