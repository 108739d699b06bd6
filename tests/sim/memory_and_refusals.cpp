// Memory over time, and what is refused before time zero or found as a deadlock.
#include <catch2/catch.hpp>

#include "program_case.hpp"
#include "tessera/base/error.hpp"

using namespace tessera;
using namespace tessera::test;
using program::CollectiveKind;
using program::MemoryCategory;

namespace {

const results::MemoryRow& memory_of(const results::RunResults& results, MemoryCategory category) {
  return results.memory_rows[static_cast<std::size_t>(category)];
}

/// Device 0 lends memory: a stream of its own takes in what device 1 sends, 300,000 B, and holds it until it has sent
/// it back; its main stream computes for `first`, then holds 400,000 B for 10 ps.
ProgramCase lending(Time first, program::MemoryCategory& lent) {
  ProgramCase made(2);
  lent = program::category_named(made.program, "lent");
  const auto main = made.block()
                        .allocate(MemoryCategory::weights, Bytes{400'000})
                        .compute(work(first))
                        .allocate(MemoryCategory::activations, Bytes{400'000})
                        .compute(work(10))
                        .release(MemoryCategory::activations, Bytes{400'000})
                        .done();
  const auto lender = made.block()
                          .receive(1, Bytes{300'000})
                          .allocate(lent, Bytes{300'000})
                          .send(1, Bytes{300'000})
                          .wait_sends()
                          .release(lent, Bytes{300'000})
                          .done();
  made.bind(0, {main, lender});
  made.bind(1, {made.block().send(0, Bytes{300'000}).receive(0, Bytes{300'000}).done()});
  return made;
}

ProgramCase hungry() {
  ProgramCase made(2);
  const auto main = made.block()
                        .allocate(MemoryCategory::weights, Bytes{700'000})
                        .compute(work(10))
                        .allocate(MemoryCategory::activations, Bytes{200'000})
                        .compute(work(10))
                        .allocate(MemoryCategory::activations, Bytes{300'000})
                        .compute(work(10))
                        .release(MemoryCategory::activations, Bytes{500'000})
                        .done();
  made.bind(0, {made.block().compute(work(1)).done()});
  made.bind(1, {main});
  return made;
}

}  // namespace

TEST_CASE("memory: a stream holds another device's data beside what the main stream holds, in order of time") {
  // The message comes when 300,000 B have crossed at 1,000 ps each, and 500 ps later; it goes back as long again.
  constexpr Time came = 300'000'000 + 500;
  constexpr Time gone = came + 300'000'000;
  program::MemoryCategory lent{};
  sim::SimulationOptions options;
  options.record_memory = true;
  // The main stream is done before, so that what is lent is its peak's neighbour, not its part.
  const auto apart = lending(100, lent).run(options).results;
  CHECK(apart.device_rows[0].peak_memory == 800'000);
  CHECK(apart.device_rows[0].peak_memory_time == 100);
  CHECK(memory_of(apart, lent).at_peak == 0);
  CHECK(memory_of(apart, lent).category_peak == 300'000);
  // Or it begins just before the data has left: 1.1 MB at once, of a device that has 1 MB.
  ProgramCase together = lending(gone - 5, lent);
  CHECK(together.refusal() ==
        "device " + together.machine.node_name(0) +
            " needs 1.10 MB but has 1.00 MB (100 kB too much): weights 400 kB, activations 400 kB, lent 300 kB, at " +
            std::to_string(gone - 5) +
            " ps; "
            "--allow-oversubscription simulates it anyway");
  options.allow_oversubscription = true;
  const auto run = together.run(options);
  CHECK(run.warnings.size() == 1);
  CHECK(run.results.device_rows[0].peak_memory == 1'100'000);
  CHECK(run.results.device_rows[0].peak_memory_time == gone - 5);
  std::vector<std::pair<Time, std::int64_t>> changes;
  for (const results::MemoryChange& change : run.results.memory_changes)
    changes.emplace_back(change.time, change.bytes);
  CHECK(changes == std::vector<std::pair<Time, std::int64_t>>{
                       {0, 400'000}, {came, 300'000}, {gone - 5, 400'000}, {gone, 0}, {gone + 5, 0}});
  // Just after, it fits.
  CHECK(lending(gone + 1, lent).run(options).results.device_rows[0].peak_memory == 800'000);
}

TEST_CASE("memory: what a stream releases before another one has allocated it") {
  const auto made = [](Time first) {
    ProgramCase one(1);
    const auto main = one.block().compute(work(first)).allocate(MemoryCategory::buffers, Bytes{50}).done();
    const auto other = one.block().release(MemoryCategory::buffers, Bytes{50}).done();
    one.bind(0, {main, other});
    return one;
  };
  CHECK(made(0).refusal().empty());  // at the same time, in the order of the streams
  CHECK(made(20).refusal() == "gpu 0 stream 1 releases 50 B of buffers more than is allocated at 0 ps");
}

TEST_CASE("memory: the peak, its moment, what it consisted of, and each category's own peak") {
  ProgramCase made(1);
  const auto main = made.block()
                        .allocate(MemoryCategory::weights, Bytes{100})
                        .allocate(MemoryCategory::activations, Bytes{50})
                        .compute(work(10))
                        .release(MemoryCategory::activations, Bytes{50})
                        .allocate(MemoryCategory::gradients, Bytes{70})
                        .compute(work(10))
                        .release(MemoryCategory::gradients, Bytes{70})
                        .done();
  made.bind(0, {main});
  sim::SimulationOptions options;
  options.record_memory = true;
  const auto results = made.run(options).results;
  CHECK(results.device_rows[0].peak_memory == 170);
  CHECK(results.device_rows[0].peak_memory_time == 10);
  CHECK(memory_of(results, MemoryCategory::weights).at_peak == 100);
  CHECK(memory_of(results, MemoryCategory::gradients).at_peak == 70);
  CHECK(memory_of(results, MemoryCategory::activations).at_peak == 0);
  CHECK(memory_of(results, MemoryCategory::activations).category_peak == 50);
  REQUIRE(results.memory_changes.size() == 5);
  CHECK(results.memory_changes[2].time == 10);
  CHECK(results.memory_changes[2].bytes == 0);
  CHECK(made.run().results.memory_changes.empty());
}

TEST_CASE("a plan that does not fit is refused before time zero: which device, how much, of what") {
  const std::string text =
      "device gpu 1 needs 1.20 MB but has 1.00 MB (200 kB too much): weights 700 kB, activations 500 kB";
  CHECK(hungry().refusal() == text + "; --allow-oversubscription simulates it anyway");
  CHECK_THROWS_AS(hungry().run(), InfeasibleError);
  sim::SimulationOptions options;
  options.allow_oversubscription = true;
  const auto result = hungry().run(options);
  CHECK(result.warnings == std::vector<std::string>{text});
  CHECK(result.results.device_rows[1].peak_memory == 1'200'000);
}

TEST_CASE("check refuses and warns as simulate does, without running") {
  const ProgramCase made = hungry();
  const PicosecondPerFlop cost;
  CHECK_THROWS_AS(sim::check(made.machine, made.program, cost, 1, {}), InfeasibleError);
  sim::SimulationOptions options;
  options.allow_oversubscription = true;
  CHECK(sim::check(made.machine, made.program, cost, 2, options).size() == 1);
  CHECK_THROWS_AS(sim::check(made.machine, made.program, cost, 3, options), InputError);
}

TEST_CASE("what check_program finds is refused before time zero") {
  ProgramCase made(2);
  made.bind(0, {made.block().compute(work(1)).done()});
  made.bind(1, {made.block().receive(0, Bytes{100}).done()});
  CHECK_THROWS_AS(made.run(), InfeasibleError);
}

TEST_CASE("packets that take no whole picosecond are simulated one by one") {
  // 2 B a picosecond: 5 packets of 1 B leave at 1, 1, 2, 2 and 3 ps, the last one comes 500 ps later.
  ProgramCase made(2);
  made.machine.network.packet = Bytes{1};
  for (machine::Link& link : made.machine.network.links) link.bandwidth = BytesPerSecond{2'000'000'000'000};
  made.bind(0, {made.block().send(1, Bytes{5}).done()});
  made.bind(1, {made.block().receive(0, Bytes{5}).done()});
  CHECK(made.run().results.iteration_time == 3 + wire_latency);
  const auto uses = sim::uses_of_laws(made.machine, made.program, {}, 1);
  CHECK(results::text_of(uses) ==
        "none; not trains: a packet takes no longer than a picosecond on the link gpu 0 to gpu 1; not rings, rounds: "
        "without trains; not fold: the program names no parts that are alike; not promises: one rank");
}

TEST_CASE("a cycle of waits is a deadlock: who waits, for what, since when") {
  ProgramCase made(3);
  made.bind(0, {made.block().compute(work(250)).receive(1, Bytes{4000}, 2).send(1, Bytes{100}).done()});
  made.bind(1, {made.block().receive(0, Bytes{100}).send(0, Bytes{4000}, 2).done()});
  made.bind(2, {made.block().compute(work(1'000'000)).done()});
  CHECK(made.refusal() ==
        "deadlock: gpu 0 waits since 250 ps for 4 kB from gpu 1 on channel 2; gpu 1 waits since 0 ps for 100 B from "
        "gpu 0 on "
        "channel 0");
}

TEST_CASE("a deadlock in a collective names its step, one behind an event names the event and the stream") {
  ProgramCase made(2);
  made.group({0, 1});
  const auto reduce = collective(CollectiveKind::all_reduce, 200, "ring");
  made.bind(
      0, {made.block().wait(0).collective(reduce).done(), made.block("beside").receive(1, Bytes{8}).signal(0).done()},
      1);
  made.bind(1, {made.block().collective(reduce).send(0, Bytes{8}).done()});
  CHECK(made.refusal() ==
        "deadlock: gpu 0 waits since 0 ps for event 0, raised 0 of 1 times; gpu 0 stream 1 waits since 0 ps for 8 B "
        "from gpu 1 on "
        "channel 0; gpu 1 waits since 0 ps in the all-reduce of 200 B over 2 devices (step 1 of 2) for gpu 0");
}

TEST_CASE("of many that wait, eight are named and the rest counted") {
  ProgramCase made(12);
  for (program::DeviceId device = 0; device < 12; ++device) {
    const program::DeviceId next = (device + 1) % 12;
    const program::DeviceId previous = (device + 11) % 12;
    made.bind(device,
              {made.block("main " + std::to_string(device)).receive(previous, Bytes{1}).send(next, Bytes{1}).done()});
  }
  const std::string text = made.refusal();
  CHECK(text.find("gpu 7 waits") != std::string::npos);
  CHECK(text.find("gpu 8 waits") == std::string::npos);
  CHECK(text.substr(text.size() - 12) == "; and 4 more");
}

TEST_CASE("the evaluator tells time and memory, or why not") {
  ProgramCase made(1);
  made.bind(0, {made.block().allocate(MemoryCategory::weights, Bytes{10}).compute(work(33)).done()});
  const PicosecondPerFlop cost;
  const auto evaluator = sim::make_evaluator(made.machine, cost);
  const auto alone = make_serial_communicator();
  const auto evaluation = evaluator->evaluate(made.program, program::Fidelity::simulated, *alone);
  CHECK(evaluation.feasible);
  CHECK(evaluation.time == 33);
  CHECK(evaluation.most_memory() == 10);
  CHECK(evaluation.busy_of(0, program::Activity::forward) == 33);
  const ProgramCase large = hungry();
  const auto refused =
      sim::make_evaluator(large.machine, cost)->evaluate(large.program, program::Fidelity::lower_bound, *alone);
  CHECK_FALSE(refused.feasible);
  CHECK(refused.reason.find("gpu 1 needs 1.20 MB") != std::string::npos);
}
