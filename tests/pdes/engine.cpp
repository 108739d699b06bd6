// The engine on one rank: the total order, what Context refuses, errors, the end of a run.
#include "tessera/pdes/engine.hpp"

#include <catch2/catch.hpp>
#include <thread>

#include "actors.hpp"

namespace {

using namespace tessera;
using namespace tessera::pdes;
using namespace tessera::pdes::test;
using Log = std::vector<std::string>;

std::string line(const Context& context, const Event& event) {
  return std::to_string(context.now()) + " " + std::to_string(event.source) + ">" + std::to_string(context.self()) +
         " " + std::to_string(event.as<Word>().value);
}

}  // namespace

TEST_CASE("events come in the order of time, source and sequence") {
  // Actors 0 and 1 send to actor 2 so that everything takes place at 10: actor 1's messages are made first (it sends at
  // 0, actor 0 at 5), yet actor 0's come first, each source's in the order in which they were made; 9 comes before all.
  Log log;
  std::vector<Script> scripts(3);
  scripts[1].start = [](Context& context) {
    context.send(OutPort{0}, 10, Word{11});
    context.send(OutPort{0}, 10, Word{12});
    context.send(OutPort{0}, 9, Word{13});
  };
  scripts[0].start = [](Context& context) { context.schedule(5, Word{0}); };
  scripts[0].handle = [](Context& context, const Event&) {
    context.send(OutPort{0}, 10, Word{1});
    context.send(OutPort{0}, 10, Word{2});
  };
  scripts[2].start = [](Context& context) { context.schedule(10, Word{20}); };
  scripts[2].handle = [&](Context& context, const Event& event) { log.push_back(line(context, event)); };
  const RunStatistics statistics = play(actors(scripts, {{0, 2, 1}, {1, 2, 1}}));
  CHECK(log == Log{"9 1>2 13", "10 0>2 1", "10 0>2 2", "10 1>2 11", "10 1>2 12", "10 2>2 20"});
  CHECK(statistics.events == 7);
  CHECK(statistics.last_event == 10);
}

TEST_CASE(
    "an event scheduled for now is handled before time goes on, and links without latency may be used inside a group") {
  Log log;
  std::vector<Script> scripts(2);
  const auto record = [&](Context& context, const Event& event) { log.push_back(line(context, event)); };
  scripts[0].start = [](Context& context) {
    context.schedule(4, Word{1});
    context.schedule(5, Word{9});
  };
  scripts[0].handle = [&](Context& context, const Event& event) {
    record(context, event);
    if (event.as<Word>().value == 1) {
      context.schedule(context.now(), Word{2});
      context.send(OutPort{0}, context.now(), Word{3});
    }
  };
  scripts[1].handle = record;
  ModelGraph model = actors(scripts, {{0, 1, 0}});
  model.groups = {0, 0};
  play(model);
  CHECK(log == Log{"4 0>0 1", "4 0>0 2", "4 0>1 3", "5 0>0 9"});
}

TEST_CASE("sequence numbers may wrap around") {
  Event a, b;
  a.sequence = 0xFFFF'FFFFU;
  b.sequence = 0;  // the next one
  CHECK(before(a, b));
  CHECK_FALSE(before(b, a));
}

TEST_CASE("what a component may not do is refused with the names of the model") {
  const auto refusal = [](const std::function<void(Context&)>& deed) {
    std::vector<Script> scripts(2);
    scripts[0].start = [](Context& context) { context.schedule(100, Word{0}); };
    scripts[0].handle = [&](Context& context, const Event&) { deed(context); };
    ModelGraph model = actors(scripts, {{0, 1, 20}});
    model.crossbars.push_back({0, 2, 30});
    return message_of<InternalError>([&] { play(model); });
  };
  CHECK(refusal([](Context& context) { context.schedule(99, Word{}); }) ==
        "actor 0 schedules an event to itself at 99 ps, but it is 100 ps already");
  CHECK(refusal([](Context& context) { context.send(OutPort{0}, 119, Word{}); }) ==
        "the link from actor 0 to actor 1 has a latency of 20 ps, so a message sent at 100 ps cannot take place at 119 "
        "ps");
  CHECK(refusal([](Context& context) { context.send(OutPort{0}, 120, Word{}); }) == "no error");
  CHECK(refusal([](Context& context) { context.send(OutPort{1}, 500, Word{}); }) ==
        "actor 0 sends on port 1, but it has 1 links");
  CHECK(refusal([](Context& context) { context.send_to(1, 129, Word{}); }) ==
        "the crossbar from actor 0 to actor 1 has a latency of 30 ps, so a message sent at 100 ps cannot take place at "
        "129 ps");
  CHECK(refusal([](Context& context) { context.send_to(2, 500, Word{}); }) ==
        "actor 0 sends to component 2, which is no member of its crossbar");
  CHECK(refusal([](Context& context) { context.schedule(never, Word{}); }) ==
        "actor 0 schedules an event to itself at 9223372036854775807 ps, but it is 100 ps already");
}

TEST_CASE("of several errors the one with the smallest time, then component, is thrown") {
  // Actors 2 and 1 fail at 50, in this order of events (2's event has the smaller source); 0 would fail at 60. 1 has to
  // win.
  std::vector<Script> scripts(4);
  const auto fail = [](Context& context, const Event&) {
    throw InfeasibleError("actor " + std::to_string(context.self()) + " failed at " + std::to_string(context.now()));
  };
  for (int k = 0; k < 3; ++k) scripts[static_cast<std::size_t>(k)].handle = fail;
  scripts[0].start = [](Context& context) {
    context.send(OutPort{0}, 50, Word{});
    context.schedule(60, Word{});
  };
  scripts[3].start = [](Context& context) { context.send(OutPort{0}, 50, Word{}); };
  const ModelGraph model = actors(scripts, {{0, 2, 1}, {3, 1, 1}});
  CHECK(message_of<InfeasibleError>([&] { play(model); }) == "actor 1 failed at 50");
}

TEST_CASE("errors keep their kind, and foreign exceptions become internal errors") {
  const auto run_with = [](const std::function<void()>& thrower) {
    std::vector<Script> scripts(1);
    scripts[0].start = [&](Context&) { thrower(); };
    play(actors(scripts, {}));
  };
  CHECK(message_of<InputError>([&] { run_with([] { throw InputError("bad"); }); }) == "bad");
  CHECK(message_of<IoError>([&] { run_with([] { throw IoError("disk"); }); }) == "disk");
  CHECK(message_of<InternalError>([&] { run_with([] { throw std::logic_error("oops"); }); }) == "oops");
}

TEST_CASE("a run stops before its end, and does not handle events at it") {
  std::vector<Script> scripts(1);
  scripts[0].start = [](Context& context) { context.schedule(0, Word{}); };
  scripts[0].handle = [](Context& context, const Event&) { context.schedule(context.now() + 10, Word{}); };
  RunOptions options;
  options.end = 100;
  CHECK(play(actors(scripts, {}), options).events == 10);  // at 0, 10, ... 90
}

TEST_CASE("an endless run can be interrupted") {
  std::vector<Script> scripts(1);
  scripts[0].start = [](Context& context) { context.schedule(0, Word{}); };
  scripts[0].handle = [](Context& context, const Event&) { context.schedule(context.now() + 10, Word{}); };
  int asked = 0;
  RunOptions options;
  options.interrupted = [&] { return ++asked > 3; };
  CHECK(message_of<IoError>([&] { play(actors(scripts, {}), options); }) == "the run was interrupted");
}

TEST_CASE("progress is reported a few times a second") {
  std::vector<Script> scripts(1);
  scripts[0].start = [](Context& context) { context.schedule(0, Word{}); };
  scripts[0].handle = [](Context& context, const Event&) {
    if (context.now() % 1000 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(100));
    if (context.now() < 8'000) context.schedule(context.now() + 1, Word{});
  };
  std::vector<ProgressReport> reports;
  RunOptions options;
  options.progress = [&](const ProgressReport& report) { reports.push_back(report); };
  const RunStatistics statistics = play(actors(scripts, {}), options);  // takes 0.9 s or more
  REQUIRE(!reports.empty());
  CHECK(static_cast<double>(reports.size()) <= 1 + statistics.wall_seconds / 0.25);
  CHECK(reports.front().events > 0);
  CHECK(reports.front().now > 0);
  CHECK(reports.front().wall_seconds >= 0.25);
}

TEST_CASE("an error of the progress display ends the run as well") {
  std::vector<Script> scripts(1);
  scripts[0].start = [](Context& context) { context.schedule(0, Word{}); };
  scripts[0].handle = [](Context& context, const Event&) { context.schedule(context.now() + 10, Word{}); };
  RunOptions options;
  options.progress = [](const ProgressReport&) { throw IoError("the terminal is gone"); };
  CHECK(message_of<IoError>([&] { play(actors(scripts, {}), options); }) == "the terminal is gone");
}

TEST_CASE("there is no synchroniser of another name") {
  std::vector<Script> scripts(1);
  RunOptions options;
  options.synchroniser = "windows";
  CHECK(message_of<InputError>([&] { play(actors(scripts, {}), options); }) ==
        "there is no synchroniser \"windows\", allowed are window, null-message");
}

TEST_CASE("a model skips time behind an event that asks for it") {
  // Behind the event at 4, the pending ones at 5 and 7 take place 100 later, in their order.
  Log log;
  std::vector<Script> scripts(1);
  scripts[0].start = [](Context& context) {
    for (const Time at : {4, 7, 5}) context.schedule(at, Word{at});
  };
  scripts[0].handle = [&](Context& context, const Event& event) {
    log.push_back(line(context, event));
    if (context.now() == 4) context.ask_for_pause();
  };
  RunOptions options;
  options.pause = [&](Pause& pause) {
    CHECK(pause.now() == 4);
    const std::vector<Event*> pending = pause.pending();
    REQUIRE(pending.size() == 2);
    CHECK(pending[0]->time == 5);
    CHECK(pending[1]->time == 7);
    pause.skip(100);
    CHECK(pause.now() == 104);
  };
  const RunStatistics statistics = play(actors(scripts, {}), options);
  CHECK(log == Log{"4 0>0 4", "105 0>0 5", "107 0>0 7"});
  CHECK(statistics.skips == 1);
  CHECK(statistics.last_event == 107);
}

namespace {

struct Sends final : SendWatch {
  std::vector<std::pair<ComponentId, ComponentId>> seen;
  bool sends(ComponentId source, ComponentId destination) override {
    seen.emplace_back(source, destination);
    return true;
  }
};

}  // namespace

TEST_CASE("a part of a model skips time by itself, and is moved back when something comes for it") {
  // Actor 1 has events at 5 and 7, which are moved to 105 and 107 behind actor 0's at 4. At 50 actor 0 sends to actor 1
  // what takes place at 60: they are moved back, and come before anything else although it is 50 already.
  Log log;
  std::vector<Script> scripts(2);
  scripts[0].start = [](Context& context) {
    for (const Time at : {4, 50}) context.schedule(at, Word{at});
  };
  scripts[1].start = [](Context& context) {
    for (const Time at : {7, 5}) context.schedule(at, Word{at});
  };
  scripts[0].handle = [&](Context& context, const Event& event) {
    log.push_back(line(context, event));
    if (context.now() == 4) context.ask_for_pause();
    if (context.now() == 50) context.send(OutPort{0}, 60, Word{60});
  };
  scripts[1].handle = [&](Context& context, const Event& event) { log.push_back(line(context, event)); };
  Sends sends;
  RunOptions options;
  const auto own = [](const Event& event) { return event.source == 1 && event.destination == 1; };
  options.pause = [&](Pause& pause) {
    if (pause.now() == 4) {
      pause.watch(&sends);
      return pause.skip(100, own);
    }
    CHECK(pause.now() == 50);
    pause.skip(-100, own);
  };
  const RunStatistics statistics = play(actors(scripts, {{0, 1, 10}}), options);
  CHECK(log == Log{"4 0>0 4", "50 0>0 50", "5 1>1 5", "7 1>1 7", "60 0>1 60"});
  CHECK(sends.seen == std::vector<std::pair<ComponentId, ComponentId>>{{0, 1}});
  CHECK(statistics.skips == 1);
}

TEST_CASE("from inside of an event what comes before it is caught up with") {
  // Actor 1's events at 5, 49 and 50 stand at 105, 149 and 150 when actor 0 handles its own at 50: those at 5 and 49
  // come in the midst of that; the one at 50 behind it, since it comes from a higher component.
  Log log;
  Simulation* running = nullptr;
  std::vector<Script> scripts(2);
  scripts[0].start = [](Context& context) { context.schedule(50, Word{50}); };
  scripts[1].start = [](Context& context) {
    for (const Time at : {105, 149, 150}) context.schedule(at, Word{at});
  };
  scripts[0].handle = [&](Context& context, const Event& event) {
    log.push_back(line(context, event));
    running->pause().skip(-100, [](const Event& one) { return one.destination == 1; });
    running->catch_up();
    log.push_back("still " + line(context, event));
  };
  scripts[1].handle = [&](Context& context, const Event& event) { log.push_back(line(context, event)); };
  const auto comm = make_serial_communicator();
  const ModelGraph model = actors(scripts, {});
  Simulation simulation(model, make_partition(model, 1, "auto"), *comm);
  running = &simulation;
  CHECK(simulation.run({}).events == 4);
  CHECK(log == Log{"50 0>0 50", "5 1>1 105", "49 1>1 149", "still 50 0>0 50", "50 1>1 150"});
}

TEST_CASE("what fails in a pause ends the run") {
  std::vector<Script> scripts(1);
  scripts[0].start = [](Context& context) { context.schedule(4, Word{1}); };
  scripts[0].handle = [](Context& context, const Event&) { context.ask_for_pause(); };
  RunOptions options;
  options.pause = [](Pause&) { throw InputError("no"); };
  CHECK_THROWS_AS(play(actors(scripts, {}), options), InputError);
}
