// Each instruction on a machine that can be solved by hand: 1 ns a byte, 500 ps latency, packets of 100 B, 1 ps a FLOP.
#include <catch2/catch.hpp>

#include "program_case.hpp"

using namespace tessera;
using namespace tessera::test;
using program::Activity;
using program::CollectiveKind;

namespace {

/// Every picosecond of every device belongs to one activity.
void check_sums(const results::RunResults& results) {
  for (const results::DeviceRow& row : results.device_rows) {
    Time sum = 0;
    for (const Time time : row.activity) sum += time;
    CHECK(sum == results.iteration_time);
  }
}

results::RunResults run(const ProgramCase& made) {
  results::RunResults results = made.run().results;
  check_sums(results);
  return results;
}

}  // namespace

TEST_CASE("compute: an operator takes its time, as often as it says, in the activity that it names") {
  ProgramCase made(1);
  const auto main = made.block()
                        .compute(work(300), 4)
                        .activity(Activity::backward)
                        .compute(work(50))
                        .activity(Activity::optimizer)
                        .compute(work(7))
                        .done();
  made.bind(0, {main});
  const auto results = run(made);
  CHECK(results.iteration_time == 1257);
  const auto& row = results.device_rows[0];
  CHECK(time_of(row, Activity::forward) == 1200);
  CHECK(time_of(row, Activity::backward) == 50);
  CHECK(time_of(row, Activity::optimizer) == 7);
  CHECK(row.flops == 1257);
  CHECK(row.finished == 1257);
}

TEST_CASE("call: blocks are repeated, nested, and run zero times") {
  ProgramCase made(1);
  const auto inner = made.block("inner").compute(work(10)).done();
  const auto outer = made.block("outer").call(inner, 3).compute(work(1)).done();
  const auto empty = made.block("empty").done();
  const auto main = made.block().call(outer, 5).call(empty, 2).call(inner, 0).call(inner).done();
  made.bind(0, {main});
  CHECK(run(made).iteration_time == 5 * 31 + 10);
}

TEST_CASE("send goes on at once, receive waits for the whole message") {
  ProgramCase made(2);
  made.bind(0, {made.block().compute(work(1000)).send(1, Bytes{250}, 3).compute(work(10)).done()});
  made.bind(1, {made.block().activity(Activity::pipeline_communication).receive(0, Bytes{250}, 3).done()});
  const auto results = run(made);
  // Posted at 1,000, 250 bytes, latency.
  const Time here = 1000 + 250 * byte_time + wire_latency;
  CHECK(results.iteration_time == here);
  CHECK(results.device_rows[0].finished == 1010);
  CHECK(time_of(results.device_rows[0], Activity::idle) == here - 1010);
  // Until it was sent, waiting was a bubble; since then, communication.
  CHECK(time_of(results.device_rows[1], Activity::bubble) == 1000);
  CHECK(time_of(results.device_rows[1], Activity::pipeline_communication) == here - 1000);
  CHECK(results.device_rows[0].bytes_sent == 250);
  CHECK(results.device_rows[1].bytes_received == 250);
  CHECK(results.device_rows[1].messages == 1);
}

TEST_CASE("receive does not wait for what is there, and waits only for the rest of what is under way") {
  ProgramCase made(2);
  made.bind(0, {made.block().send(1, Bytes{100}).send(1, Bytes{100}, 1).done()});
  // The packets of both messages are there at 100,500 and 200,500.
  made.bind(1, {made.block().compute(work(150'000)).receive(0, Bytes{100}).receive(0, Bytes{100}, 1).done()});
  const auto results = run(made);
  CHECK(results.iteration_time == 200'500);
  CHECK(time_of(results.device_rows[1], Activity::bubble) == 0);
  CHECK(time_of(results.device_rows[1], Activity::forward) == 200'500);
}

TEST_CASE("messages of one channel leave one after another, those of another channel take turns with them") {
  ProgramCase made(2);
  // The long message is whole at 300,500, the short one behind it at 400,500, while the receiver computes.
  made.bind(0, {made.block().send(1, Bytes{300}).send(1, Bytes{100}).done()});
  made.bind(1, {made.block().receive(0, Bytes{300}).compute(work(150'000)).receive(0, Bytes{100}).done()});
  CHECK(run(made).iteration_time == 450'500);
  // On a channel of its own the short one is the second packet of four, whole at 200,500, and delays the long one.
  ProgramCase turns(2);
  turns.bind(0, {turns.block().send(1, Bytes{300}).send(1, Bytes{100}, 1).done()});
  turns.bind(1, {turns.block().receive(0, Bytes{300}).compute(work(5)).receive(0, Bytes{100}, 1).done()});
  CHECK(run(turns).iteration_time == 400'505);
}

TEST_CASE("wait_sends waits until the last packet has left the device") {
  ProgramCase made(3);
  made.bind(0, {made.block()
                    .send(1, Bytes{300})
                    .send(1, Bytes{100}, 1)
                    .send(2, Bytes{150})
                    .wait_sends()
                    .compute(work(1))
                    .done()});
  made.bind(1, {made.block().receive(0, Bytes{300}).receive(0, Bytes{100}, 1).done()});
  made.bind(2, {made.block().receive(0, Bytes{150}).done()});
  // 400 bytes leave over one link, 150 over the other at the same time.
  CHECK(run(made).device_rows[0].finished == 400'001);
}

TEST_CASE("wait_sends does not wait when nothing is on its way, nor for what others sent") {
  ProgramCase made(2);
  made.bind(0, {made.block().wait_sends().compute(work(9)).done(), made.block("beside").send(1, Bytes{500}).done()});
  made.bind(1, {made.block().receive(0, Bytes{500}).done()});
  // The main stream sent nothing itself.
  CHECK(time_of(run(made).device_rows[0], Activity::forward) == 9);
}

TEST_CASE("a message to the device itself is there at once, before and after its receive is begun") {
  ProgramCase made(1);
  const auto main =
      made.block().compute(work(5)).send(0, Bytes{1000}).receive(0, Bytes{1000}).receive(0, Bytes{64}, 1).done();
  const auto beside = made.block("beside").compute(work(20)).send(0, Bytes{64}, 1).done();
  made.bind(0, {main, beside});
  CHECK(run(made).iteration_time == 25);
}

TEST_CASE("signal and wait order streams of a device; what was raised before needs no waiting") {
  ProgramCase made(1);
  const auto main = made.block().compute(work(100)).signal(0, 2).compute(work(50)).wait(1).compute(work(1)).done();
  const auto beside =
      made.block("beside").wait(0).wait(0).send(0, Bytes{0}, 9).receive(0, Bytes{0}, 9).signal(1).done();
  made.bind(0, {main, beside}, 2);
  // The other stream is done at 100, the main one computes until 150 and goes on.
  CHECK(run(made).iteration_time == 151);
}

TEST_CASE("wait takes as many signals as it says, and its time goes to its activity") {
  ProgramCase made(2);
  const auto main = made.block().activity(Activity::data_communication).wait(0, 2).done();
  const auto beside = made.block("beside").receive(1, Bytes{100}).signal(0).receive(1, Bytes{100}).signal(0).done();
  made.bind(0, {main, beside}, 1);
  made.bind(1, {made.block("sender").send(0, Bytes{100}).wait_sends().compute(work(30)).send(0, Bytes{100}).done()});
  const auto results = run(made);
  // The second message is posted at 100,030 and takes 100 bytes and the latency.
  CHECK(results.device_rows[0].finished == 200'530);
  CHECK(time_of(results.device_rows[0], Activity::data_communication) == 200'530);
}

TEST_CASE("streams that compute take turns on the one engine in the order in which they start operators") {
  ProgramCase made(1);
  const auto main = made.block().compute(work(100), 3).done();
  const auto beside = made.block("beside").compute(work(40), 2).done();
  made.bind(0, {main, beside});
  // 0-100 main, 100-140 beside, 140-240 main, 240-280 beside, 280-380 main.
  const auto results = run(made);
  CHECK(results.iteration_time == 380);
  CHECK(time_of(results.device_rows[0], Activity::forward) == 380);
}

TEST_CASE("communication beside compute costs nothing; what is left of it is exposed") {
  ProgramCase made(2);
  made.group({0, 1});
  made.program.free_reductions = true;
  const auto reduce = collective(CollectiveKind::all_reduce, 200, "ring");
  for (const program::DeviceId device : {0U, 1U}) {
    const auto main = made.block()
                          .compute(work(50'000))
                          .signal(0)
                          .compute(work(60'000))
                          .activity(Activity::data_communication)
                          .wait(1)
                          .done();
    const auto beside = made.block("beside").wait(0).collective(reduce).signal(1).done();
    made.bind(device, {main, beside}, 2);
  }
  // Two steps of 100 bytes from 50,000 on: ready at 50,000 + 2 x 100,500 = 251,000; compute ends at 110,000.
  const auto results = run(made);
  CHECK(results.iteration_time == 251'000);
  CHECK(time_of(results.device_rows[0], Activity::forward) == 110'000);
  CHECK(time_of(results.device_rows[0], Activity::data_communication) == 141'000);
}

TEST_CASE("collective: steps of sends, receives and reductions; until the last has joined it is waiting") {
  ProgramCase made(2);
  made.group({0, 1});
  const auto reduce = collective(CollectiveKind::all_reduce, 200, "ring");
  for (const program::DeviceId device : {0U, 1U}) {
    made.bind(device, {made.block()
                           .compute(work(device * 1000))
                           .activity(Activity::tensor_communication)
                           .label("sum")
                           .collective(reduce)
                           .done()});
  }
  const auto results = run(made);
  // Device 1 joins at 1,000. A step is 100 bytes and the latency; adding 100 received bytes takes 100 ps.
  // Device 1 has its first chunk from device 0 at 100,500, before it needs 101,500 itself for the other direction:
  // device 0: first step ends at 1,000 + 100,500, reduces until 101,600, sends at 101,600; device 1: ends its first
  // step at 100,500, reduces until 100,600, its second send waits for its first (link busy until 101,000) and is
  // through at 201,500. Device 1 receives device 0's second message, posted at 101,600, at 202,100.
  CHECK(results.device_rows[0].finished == 201'500);
  CHECK(results.device_rows[1].finished == 202'100);
  CHECK(time_of(results.device_rows[0], Activity::waiting) == 1'000);
  CHECK(time_of(results.device_rows[0], Activity::tensor_communication) == 200'500);
  CHECK(time_of(results.device_rows[1], Activity::waiting) == 0);
  CHECK(time_of(results.device_rows[1], Activity::tensor_communication) == 201'100);
  REQUIRE(results.collective_rows.size() == 1);
  const auto& row = results.collective_rows[0];
  CHECK(made.program.labels[row.label] == "sum");
  CHECK(row.group_size == 2);
  CHECK(row.calls == 2);
  CHECK(row.bytes == 400);
  CHECK(row.total == 201'500 + 201'100);
  CHECK(row.longest == 201'500);
  CHECK(row.waiting == 1'000);
  CHECK(row.longest_communication == 201'100);
}

TEST_CASE("a collective of one member takes no time") {
  ProgramCase made(1);
  made.group({0});
  made.bind(0, {made.block().collective(collective(CollectiveKind::all_reduce, 4096, "ring")).compute(work(3)).done()});
  CHECK(run(made).iteration_time == 3);
}

TEST_CASE("a slow device computes and reduces at its speed") {
  ProgramCase made(2);
  made.machine.speed[1] = 0.5;
  made.group({0, 1});
  const auto reduce = collective(CollectiveKind::reduce_scatter, 200, "ring");
  for (const program::DeviceId device : {0U, 1U}) {
    made.bind(device, {made.block().compute(work(1001)).collective(reduce).done()});
  }
  const auto results = run(made);
  // Device 0 sends at 1,001, device 1 at 2,002; 100 bytes are added in 100 or 200 ps.
  CHECK(results.device_rows[0].finished == 2002 + 100'500 + 100);
  CHECK(results.device_rows[1].finished == 1001 + 100'500 + 200);
}

TEST_CASE("what the host of a slow device takes is not longer") {
  ProgramCase made(1);
  made.machine.speed[0] = 0.5;
  workload::Operator pause;
  pause.kind = workload::OperatorKind::host;
  pause.flops = 700;  // what this model prices
  made.bind(0, {made.block().compute(work(1000)).compute(pause).done()});
  CHECK(run(made).iteration_time == 2000 + 700);
}

TEST_CASE("a pipeline of two stages: the bubble is the fill and the drain") {
  // Four micro-batches, forward 1,000,000 a stage, messages of 100 bytes: 100,500 on the way.
  ProgramCase made(2);
  const auto first = made.block("first")
                         .compute(work(1'000'000))
                         .activity(Activity::pipeline_communication)
                         .send(1, Bytes{100})
                         .done();
  const auto second = made.block("second")
                          .activity(Activity::pipeline_communication)
                          .receive(0, Bytes{100})
                          .activity(Activity::forward)
                          .compute(work(1'000'000))
                          .done();
  made.bind(0, {made.block().call(first, 4).done()});
  made.bind(1, {made.block().call(second, 4).done()});
  const auto results = run(made);
  // Stage 1 waits 1,000,000 for the first message to be sent and 100,500 for it to come; then it is never late again.
  CHECK(results.iteration_time == 1'000'000 + 100'500 + 4'000'000);
  CHECK(time_of(results.device_rows[1], Activity::bubble) == 1'000'000);
  CHECK(time_of(results.device_rows[1], Activity::pipeline_communication) == 100'500);
  CHECK(time_of(results.device_rows[1], Activity::forward) == 4'000'000);
  CHECK(time_of(results.device_rows[0], Activity::idle) == 1'100'500);
}

TEST_CASE("links count what they carry") {
  ProgramCase made(2);
  made.bind(0, {made.block().send(1, Bytes{250}).send(1, Bytes{50}, 1).done()});
  made.bind(1, {made.block().receive(0, Bytes{250}).receive(0, Bytes{50}, 1).done()});
  const auto results = run(made);
  REQUIRE(results.link_rows.size() == 2);
  CHECK(results.link_rows[0].bytes == 300);
  CHECK(results.link_rows[0].messages == 2);
  CHECK(results.link_rows[0].busy == 300'000);
  CHECK(results.link_rows[1].bytes == 0);
}

TEST_CASE("devices without streams take no part and have no rows") {
  ProgramCase made(3);
  made.bind(1, {made.block().compute(work(5)).done()});
  const auto results = run(made);
  CHECK(results.devices == 1);
  REQUIRE(results.device_rows.size() == 1);
  CHECK(results.device_rows[0].device == 1);
  CHECK(results.link_rows.size() == 6);
}
