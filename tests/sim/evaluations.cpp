// What is known of a program without simulating it, beside its simulation.
#include <catch2/catch.hpp>

#include "busy_program.hpp"
#include "tessera/base/random.hpp"

using namespace tessera;
using namespace tessera::test;
using program::CollectiveKind;
using program::Fidelity;

namespace {

program::Evaluation evaluated(const ProgramCase& made, Fidelity fidelity) {
  const PicosecondPerFlop cost;
  const auto alone = make_serial_communicator();
  return sim::make_evaluator(made.machine, cost)->evaluate(made.program, fidelity, *alone);
}

/// Draws of one program.
class Draws {
 public:
  explicit Draws(std::uint64_t key) : random_(key, random_stream("programs")) {}
  std::int64_t below(std::int64_t limit) {
    return static_cast<std::int64_t>(random_.real(next_++) * static_cast<double>(limit));
  }

 private:
  KeyedRandom random_;
  std::uint64_t next_ = 0;
};

/// Devices that compute, pass messages round, and sum, gather, scatter and exchange over all and over halves, each in
/// an order of its own where that is allowed; one of them is slow.
ProgramCase drawn(std::uint64_t key) {
  Draws draws(key);
  const auto devices = static_cast<program::DeviceId>(2 * (1 + draws.below(3)));
  ProgramCase made(devices);
  made.machine.speed[0] = draws.below(2) == 0 ? 1.0 : 0.4;
  std::vector<std::vector<program::DeviceId>> groups(3);
  for (program::DeviceId device = 0; device < devices; ++device) {
    groups[0].push_back(device);
    groups[device < devices / 2 ? 1 : 2].push_back(device);
  }
  for (const auto& members : groups) made.group(members);
  std::vector<program::BlockBuilder> blocks;
  for (program::DeviceId device = 0; device < devices; ++device)
    blocks.push_back(made.block("round " + std::to_string(device)));
  const std::int64_t steps = 1 + draws.below(8);
  for (std::int64_t i = 0; i < steps; ++i) {
    const std::int64_t what = draws.below(4), bytes = draws.below(2000);
    const auto shift = static_cast<program::DeviceId>(1 + draws.below(devices - 1));
    const CollectiveKind kinds[]{CollectiveKind::all_reduce, CollectiveKind::reduce_scatter, CollectiveKind::all_gather,
                                 CollectiveKind::all_to_all};
    const auto joined = collective(kinds[draws.below(4)], 2 * (bytes / 2), draws.below(2) == 0 ? "ring" : "direct");
    const bool halves = draws.below(2) == 0;
    for (program::DeviceId device = 0; device < devices; ++device) {
      program::BlockBuilder& block = blocks[device];
      program::Collective own = joined;
      own.group_slot = !halves ? 0 : device < devices / 2 ? 1 : 2;
      if (what == 0) block.compute(work(draws.below(400'000)));
      if (what == 1)
        block.send((device + shift) % devices, Bytes{bytes})
            .receive((device + devices - shift) % devices, Bytes{bytes});
      if (what >= 2) block.collective(own);
    }
  }
  const auto rounds = static_cast<std::uint32_t>(1 + draws.below(3));
  for (program::DeviceId device = 0; device < devices; ++device) {
    const auto round = blocks[device].done();
    made.bind(device, {made.block("main " + std::to_string(device)).call(round, rounds).done()});
  }
  return made;
}

}  // namespace

TEST_CASE("a lower bound is never above the simulated time, and link loads and memory are the same") {
  double closest = 0;
  for (std::uint64_t key = 0; key < 200; ++key) {
    CAPTURE(key);
    const ProgramCase made = drawn(key);
    const auto bound = evaluated(made, Fidelity::lower_bound), real = evaluated(made, Fidelity::simulated);
    REQUIRE(real.feasible);
    REQUIRE(bound.feasible);
    REQUIRE(bound.time <= real.time);
    CHECK(bound.link_bytes == real.link_bytes);
    CHECK(bound.peak_memory == real.peak_memory);
    if (real.time > 0) closest = std::max(closest, static_cast<double>(bound.time) / static_cast<double>(real.time));
  }
  CHECK(closest > 0.99);  // it is no bound by being nothing
}

TEST_CASE("a lower bound of everything at once, with switches and streams that compete") {
  for (const machine::NodeId nodes : {1U, 2U, 3U}) {
    const ProgramCase made = busy_program(nodes, 3);
    const auto bound = evaluated(made, Fidelity::lower_bound), real = evaluated(made, Fidelity::simulated);
    CHECK(bound.time <= real.time);
    CHECK(bound.time > real.time / 10);
    CHECK(bound.link_bytes == real.link_bytes);
  }
}

TEST_CASE(
    "a lower bound where streams share an event: which of them is first hangs on times that a walk does not know") {
  const auto after_the_event = [](ProgramCase& made, std::vector<program::BlockId> streams) {
    made.bind(0, std::move(streams), 1);
    made.bind(1, {made.block("receiver").receive(0, Bytes{1000}).compute(work(5'000'000)).done()});
  };
  ProgramCase raised_by_two(2);  // one stream raises it at once, so nobody waits for the other one's 10 us
  after_the_event(raised_by_two, {raised_by_two.block("at once").signal(0).done(),
                                  raised_by_two.block("late").compute(work(10'000'000)).signal(0).done(),
                                  raised_by_two.block("waits").wait(0).send(1, Bytes{1000}).done()});
  ProgramCase awaited_by_two(3);  // the one that sends takes what is raised at once, the other one comes later
  const auto raises = awaited_by_two.block("raises").signal(0).compute(work(10'000'000)).signal(0).done();
  const auto sends = awaited_by_two.block("sends").wait(0).send(1, Bytes{1000}).done();
  const auto comes_later = awaited_by_two.block("comes later").receive(2, Bytes{100}).wait(0).done();
  awaited_by_two.bind(2, {awaited_by_two.block("holds up").send(0, Bytes{100}).done()});
  after_the_event(awaited_by_two, {raises, comes_later, sends});
  for (const ProgramCase* made : {&raised_by_two, &awaited_by_two}) {
    const program::Evaluation least = evaluated(*made, Fidelity::lower_bound);
    const program::Evaluation real = evaluated(*made, Fidelity::simulated);
    REQUIRE(least.feasible);
    REQUIRE(real.feasible);
    CHECK(least.time <= real.time);
  }
}

TEST_CASE("alone on the network an estimate is the simulated time") {
  // 100 ps of work, then 200 B in two packets: 500 ps and 1,000 ps a byte; then 50 ps of work.
  ProgramCase message(2);
  message.bind(0, {message.block("first").compute(work(100)).send(1, Bytes{200}).done()});
  message.bind(1, {message.block("second").receive(0, Bytes{200}).compute(work(50)).done()});
  CHECK(evaluated(message, Fidelity::estimate).time == 100 + 200'500 + 50);
  CHECK(evaluated(message, Fidelity::lower_bound).time == 100 + 200'500 + 50);
  CHECK(evaluated(message, Fidelity::simulated).time == 100 + 200'500 + 50);
  // A ring of two: 100 B there, added in 100 ps, 100 B back.
  ProgramCase sum(2);
  sum.group({0, 1});
  for (program::DeviceId device : {0U, 1U})
    sum.bind(device, {sum.block("sum " + std::to_string(device))
                          .compute(work(device == 0 ? 10 : 70))
                          .collective(collective(CollectiveKind::all_reduce, 200, "ring"))
                          .done()});
  CHECK(evaluated(sum, Fidelity::simulated).time == 70 + 2 * 100'500 + 100);
  CHECK(evaluated(sum, Fidelity::estimate).time == 70 + 2 * 100'500 + 100);
  // Both wait for the slower one, and a link carries 200 B in all.
  CHECK(evaluated(sum, Fidelity::lower_bound).time == 200'000);
}

TEST_CASE("an estimate knows who waits for whom, and says so where nobody goes on") {
  // Two stages, three micro-batches of 10 us each and messages of 1 us and a half: 10 + (1.5 + 10) + 2 x 10 us.
  ProgramCase stages(2);
  const auto first = stages.block("first").compute(work(10'000'000)).send(1, Bytes{1000}).done();
  const auto second = stages.block("second").receive(0, Bytes{1000}).compute(work(10'000'000)).done();
  stages.bind(0, {stages.block("all first").call(first, 3).done()});
  stages.bind(1, {stages.block("all second").call(second, 3).done()});
  CHECK(evaluated(stages, Fidelity::estimate).time == 10'000'000 + 1'000'500 + 3 * 10'000'000);
  CHECK(evaluated(stages, Fidelity::simulated).time == 10'000'000 + 1'000'500 + 3 * 10'000'000);
  ProgramCase stuck(2);
  stuck.bind(0, {stuck.block("zero").receive(1, Bytes{1}).send(1, Bytes{1}).done()});
  stuck.bind(1, {stuck.block("one").receive(0, Bytes{1}).send(0, Bytes{1}).done()});
  CHECK_FALSE(evaluated(stuck, Fidelity::estimate).feasible);
  CHECK(evaluated(stuck, Fidelity::estimate).reason == "devices wait for each other for ever");
}

TEST_CASE("an estimate lets members go on that need nothing of each other") {
  // The root receives after it has begun the broadcast, and the other sends before it joins.
  ProgramCase made(2);
  made.group({0, 1});
  made.bind(0, {made.block("root")
                    .collective(collective(CollectiveKind::broadcast, 100, "direct"))
                    .receive(1, Bytes{100})
                    .done()});
  made.bind(1, {made.block("other")
                    .send(0, Bytes{100})
                    .collective(collective(CollectiveKind::broadcast, 100, "direct"))
                    .done()});
  CHECK(evaluated(made, Fidelity::simulated).feasible);
  CHECK(evaluated(made, Fidelity::estimate).feasible);
  // Before it joins, device 1 waits for what the root sends after the broadcast: the root waits for nobody.
  ProgramCase ahead(2);
  ahead.group({0, 1});
  ahead.bind(0, {ahead.block("root")
                     .collective(collective(CollectiveKind::broadcast, 100, "direct"))
                     .send(1, Bytes{100})
                     .done()});
  ahead.bind(1, {ahead.block("other")
                     .receive(0, Bytes{100})
                     .collective(collective(CollectiveKind::broadcast, 100, "direct"))
                     .done()});
  CHECK(evaluated(ahead, Fidelity::simulated).feasible);
  CHECK(evaluated(ahead, Fidelity::estimate).feasible);
}

TEST_CASE("a block that is called no times takes none") {
  ProgramCase made(2);
  const auto message = made.block("message").send(1, Bytes{100}).done();
  made.bind(0, {made.block("main").call(message, 0).compute(work(5)).done()});
  made.bind(1, {made.block("other").compute(work(7)).done()});
  for (const Fidelity fidelity : {Fidelity::lower_bound, Fidelity::estimate, Fidelity::simulated}) {
    const auto found = evaluated(made, fidelity);
    REQUIRE(found.feasible);
    CHECK(found.time == 7);
  }
}

TEST_CASE("events of a device: a wait lasts until as many were raised") {
  ProgramCase made(1);
  const auto side = made.block("side").wait(0, 2).compute(work(30)).signal(1).done();
  const auto main = made.block("main").compute(work(100)).signal(0).compute(work(100)).signal(0).wait(1).done();
  made.bind(0, {main, side}, 2);
  CHECK(evaluated(made, Fidelity::estimate).time == 230);
  CHECK(evaluated(made, Fidelity::simulated).time == 230);
  CHECK(evaluated(made, Fidelity::lower_bound).time == 230);  // all that the device computes
}

TEST_CASE("events of a device: a hundred thousand of them are counted in no time, and in order") {
  ProgramCase made(1);
  const auto step = made.block("step").compute(work(10)).signal(0).done();
  const auto side = made.block("side").wait(0, 1).done();
  made.bind(0, {made.block("main").call(step, 100'000).done(), made.block("beside").call(side, 100'000).done()}, 1);
  CHECK(evaluated(made, Fidelity::estimate).time == 1'000'000);
  CHECK(evaluated(made, Fidelity::simulated).time == 1'000'000);
}
