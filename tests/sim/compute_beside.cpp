// Operators beside collectives that take cores from them, solved by hand: 8 cores, of which a collective takes 4, so
// that what runs beside it runs at half its speed. A ring all-reduce of 200 B over two devices takes 2 x (100,000 +
// 500) = 201,000 ps.
#include <catch2/catch.hpp>

#include "program_case.hpp"
#include "sim/execution/compute_engine.hpp"
#include "tessera/base/random.hpp"

using namespace tessera;
using program::Activity;
using program::CollectiveKind;
using test::ProgramCase;
using test::work;

namespace {

program::Collective all_reduce(std::uint32_t group) {
  return test::collective(CollectiveKind::all_reduce, 200, "ring", group);
}

ProgramCase overlapped(machine::NodeId devices, std::int64_t cores = 8) {
  ProgramCase made(devices);
  made.machine.device.cores = cores;
  made.program.channels = 4;
  made.program.free_reductions = true;
  made.group({0, 1});
  made.group({0, 1});
  return made;
}

}  // namespace

TEST_CASE("an operator is slowed down as long as the collective beside it runs") {
  // In 201,000 ps half as much is done, 100,500 ps of the million: 899,500 are left.
  ProgramCase made = overlapped(2);
  for (const program::DeviceId device : {0U, 1U}) {
    made.bind(device, {made.block().compute(work(1'000'000)).done(), made.block().collective(all_reduce(0)).done()});
  }
  const auto results = made.run().results;
  CHECK(results.iteration_time == 1'100'500);
  CHECK(test::time_of(results.device_rows[0], Activity::forward) == 1'100'500);
  // Without cores that communication takes, overlap is free.
  made.program.channels = 0;
  CHECK(made.run().results.iteration_time == 1'000'000);
}

TEST_CASE("an operator that is under way when the collective begins slows down then, and speeds up behind it") {
  // Device 2 sends a message of no bytes at 300,000, so the all-reduce of device 0 begins at 300,500; device 1 has
  // joined before. The operator loses 100,500 ps. Repeated operators are one job.
  ProgramCase made = overlapped(3);
  made.bind(0, {made.block().compute(work(250'000), 4).done(),
                made.block().receive(2, Bytes{0}).collective(all_reduce(0)).done()});
  made.bind(1, {made.block().collective(all_reduce(0)).done()});
  made.bind(2, {made.block().compute(work(300'000)).send(0, Bytes{0}).done()});
  const auto results = made.run().results;
  CHECK(results.device_rows[0].finished == 1'100'500);
  // Its two messages leave one after another, at 400,500 and 500,500.
  CHECK(results.device_rows[1].finished == 501'000);
  CHECK(results.device_rows[2].finished == 300'000);
}

TEST_CASE("a collective that ends behind the operator slows all of it down") {
  ProgramCase made = overlapped(2);
  for (const program::DeviceId device : {0U, 1U}) {
    made.bind(device, {made.block().compute(work(60'000)).compute(work(40'000)).done(),
                       made.block().collective(all_reduce(0)).done()});
  }
  const auto results = made.run().results;
  CHECK(test::time_of(results.device_rows[0], Activity::forward) == 200'000);
  CHECK(results.iteration_time == 201'000);
}

TEST_CASE("two collectives beside an operator take twice as much; one core in sixteen stays") {
  // 12 cores less 8: a third of the speed, 333,333,333,333 FLOP/s, so that 3,000,001 ps stand for the million and
  // 66,999 of it are done after 201,000. Each all-reduce has links of its own: 0 with 1, 0 with 2.
  ProgramCase made = overlapped(3, 12);
  made.program.groups[1] = {{0, 2}};
  made.bind(0, {made.block().compute(work(1'000'000)).done(), made.block().collective(all_reduce(0)).done(),
                made.block().collective(all_reduce(1)).done()});
  made.bind(1, {made.block().collective(all_reduce(0)).done()});
  made.bind(2, {made.block().collective(all_reduce(1)).done()});
  CHECK(made.run().results.device_rows[0].finished == 1'000'000 - 66'999 + 201'000);
  // Of two cores at least one is left, not none: half the speed.
  made.machine.device.cores = 2;
  CHECK(made.run().results.device_rows[0].finished == 1'100'500);
}

TEST_CASE("what follows on the same stream is not beside") {
  ProgramCase made = overlapped(2);
  for (const program::DeviceId device : {0U, 1U}) {
    made.bind(device, {made.block().collective(all_reduce(0)).compute(work(1'000)).done(),
                       made.block().compute(work(10)).collective(all_reduce(1)).done()});
  }
  // Stream 1's operator runs beside the first all-reduce and takes 20; its own all-reduce then shares the link with the
  // first one, packet by packet: all four steps of 100,000 are through after 400,000 + 500 x 2 and more; the operator
  // of stream 0 comes when its all-reduce has ended and is beside the other one. What is certain: nobody is faster than
  // alone.
  const auto rows = made.run().results.device_rows;
  CHECK(test::time_of(rows[0], Activity::forward) >= 201'000 + 1'000);
  CHECK(rows[0].finished == rows[1].finished);
}

TEST_CASE("operators of several streams take turns on the engine, beside a collective as well") {
  // Two streams of 100,000 ps each queue at 0, the all-reduce of a third slows both down: 200,000 at half speed for
  // 201,000 ps, then 99,500 are left.
  ProgramCase made = overlapped(2);
  for (const program::DeviceId device : {0U, 1U}) {
    made.bind(device, {made.block().compute(work(50'000), 2).done(), made.block().compute(work(100'000)).done(),
                       made.block().collective(all_reduce(0)).done()});
  }
  CHECK(made.run().results.iteration_time == 300'500);
}

TEST_CASE("memory bandwidth is taken as well") {
  // The all-reduce moves 500 B of memory in 201,000 ps (200 sent, 200 received, 100 of them added): 2,487,562,189 B/s.
  // Of 5,000,000,000 B/s 2,512,437,811 are left to an operator that writes 1,000 B: 200,000 ps alone, 398,019.8 beside.
  ProgramCase made = overlapped(2);
  made.machine.device.memory_bandwidth = BytesPerSecond{5'000'000'000};
  workload::Operator writes;
  writes.name = "writes";
  writes.bytes_written = 1000;
  for (const program::DeviceId device : {0U, 1U}) {
    made.bind(device, {made.block().compute(writes).done(), made.block().collective(all_reduce(0)).done()});
  }
  // 201,000 x 200,000 / 398,020 = 100,999 ps of it are done when the all-reduce ends.
  CHECK(made.run().results.iteration_time == 201'000 + 200'000 - 100'999);
}

TEST_CASE("the engine's clock never promises more than it keeps") {
  // Rate changes at random times: the end lies at or behind every earliest_end() given before, and a job alone ends on
  // the picosecond.
  program::Program program;
  program.operators = {work(1'000'003)};
  machine::DeviceSpec device = test::connected_machine(1).device;
  device.cores = 8;
  const test::PicosecondPerFlop cost;
  sim::CostTable costs(program, device, cost, 1.0);
  for (std::uint64_t index = 0; index < 200; ++index) {
    const KeyedRandom random(index, random_stream("engine"));
    sim::ComputeEngine engine;
    engine.queue({0, 0, 3}, costs);
    REQUIRE(engine.begin_next(7));
    CHECK(engine.ends() == 7 + 3 * 1'000'003);
    Time now = 7, promised = 0;
    int taken = 0;
    for (std::uint64_t i = 0; i < 12; ++i) {
      now += static_cast<Time>(random.below(2 * i, 400'000));
      if (now >= engine.ends()) break;
      const bool more = taken == 0 || random.below(2 * i + 1, 2) == 0;
      more ? engine.take({2, 0}, costs, now) : engine.give_back({2, 0}, costs, now);
      taken += more ? 1 : -1;
      CHECK(engine.earliest_end() >= promised);
      CHECK(engine.ends() >= engine.earliest_end());
      promised = engine.earliest_end();
    }
  }
}
