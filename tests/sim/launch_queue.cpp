// The host's queue of launches, solved by hand: 1 ps a FLOP, links of 1 ns a byte and 500 ps.
#include <catch2/catch.hpp>

#include "program_case.hpp"

using namespace tessera;
using program::Activity;
using test::ProgramCase;
using test::work;

namespace {

workload::Operator synchronisation(Time pause) {
  workload::Operator op = work(pause);
  op.kind = workload::OperatorKind::host;
  return op;
}

ProgramCase launched(machine::NodeId devices, Time interval) {
  ProgramCase made(devices);
  made.program.issue_interval = interval;
  made.program.free_reductions = true;
  return made;
}

}  // namespace

TEST_CASE("kernels that are shorter than their launches follow these, longer ones hide them") {
  ProgramCase made = launched(1, 100);
  const auto main = made.block().compute(work(30)).compute(work(30)).compute(work(500)).compute(work(30)).done();
  made.bind(0, {main});
  // Launched at 100, 200, 300, 400. The first two end at 130 and 230, the third one at 800, and the last one, which was
  // launched long before, at 830. The device waited for its host for 100 + 70 + 70 ps.
  const auto results = made.run().results;
  CHECK(results.iteration_time == 830);
  CHECK(test::time_of(results.device_rows[0], Activity::idle) == 240);
  CHECK(test::time_of(results.device_rows[0], Activity::forward) == 590);
}

TEST_CASE("behind a synchronisation the queue is empty") {
  ProgramCase made = launched(1, 100);
  const auto main = made.block()
                        .compute(work(1000))
                        .compute(work(10))
                        .compute(synchronisation(200))
                        .compute(work(10))
                        .compute(work(10))
                        .done();
  made.bind(0, {main});
  // The first kernel is launched at 100 and ends at 1100, the second one at 1110. The host is back at 1310 and launches
  // the others at 1410 and 1510: 1520.
  CHECK(made.run().results.iteration_time == 1520);
}

TEST_CASE("operators that an instruction repeats are launched one by one, and do not wait for each other's launches") {
  ProgramCase made = launched(1, 100);
  made.bind(0, {made.block().compute(work(10), 5).compute(work(10)).done()});
  // The five run from 100 to 150; the sixth one is launched at 600.
  CHECK(made.run().results.iteration_time == 610);
}

TEST_CASE("messages and collectives are launched too, the streams beside the main one are not") {
  ProgramCase made = launched(2, 100'000);
  made.group({0, 1});
  const auto sent = test::collective(program::CollectiveKind::all_reduce, 200, "ring", 0);
  for (const program::DeviceId device : {0U, 1U}) made.bind(device, {made.block().collective(sent).done()});
  // As ever, 2 x (100,000 + 500), behind the launch.
  CHECK(made.run().results.iteration_time == 301'000);

  ProgramCase beside = launched(2, 100'000);
  beside.group({0, 1});
  for (const program::DeviceId device : {0U, 1U})
    beside.bind(device, {beside.block("main").done(), beside.block("beside").collective(sent).done()});
  CHECK(beside.run().results.iteration_time == 201'000);
}

TEST_CASE("a queue holds so many launches, and no more") {
  // Behind a collective that ends at 10,201,000 the host is at most 1,024 launches ahead: that many small kernels hide
  // what launching costs, the next one does not.
  const auto at_end = [](std::uint32_t kernels) {
    ProgramCase made = launched(2, 100);
    made.group({0, 1});
    for (const program::DeviceId device : {0U, 1U}) {
      auto block = made.block();
      block.compute(work(10'000'000));
      block.collective(test::collective(program::CollectiveKind::all_reduce, 200, "ring", 0));
      for (std::uint32_t i = 0; i < kernels; ++i) block.compute(work(1));
      made.bind(device, {block.done()});
    }
    return made.run().results.iteration_time;
  };
  // The collective is launched when the first kernel is over, at 10,000,100: the host is 102,400 before that, and has
  // launched 3,033 more kernels when the collective ends, 201,000 later. Kernels of 1 ps catch up with it.
  const Time end = 10'000'100 + 201'000;
  CHECK(at_end(1000) == end + 1000);
  CHECK(at_end(5000) == 10'000'100 - 102'400 + 100 * 5001 + 1);
}
