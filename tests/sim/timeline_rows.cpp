// What a timeline says of its intervals: messages by their number, collectives, and whose micro-batch a pass is of.
#include <catch2/catch.hpp>

#include "program_case.hpp"
#include "tessera/program/stage_passes.hpp"

using namespace tessera;
using namespace tessera::test;
using program::Activity;
using results::MessageEnd;

namespace {

results::RunResults run_recorded(const ProgramCase& made) {
  sim::SimulationOptions options;
  options.record_timeline = true;
  return made.run(options).results;
}

std::vector<results::Interval> rows_of(const results::RunResults& results, program::DeviceId device,
                                       std::uint16_t stream = 0) {
  std::vector<results::Interval> rows;
  for (const results::Interval& one : results.intervals.rows())
    if (one.device == device && one.stream == stream) rows.push_back(one);
  return rows;
}

}  // namespace

TEST_CASE("timelines hold what each stream did, when they are recorded") {
  ProgramCase made(2);
  made.bind(0,
            {made.block().label("first").compute(work(10)).send(1, Bytes{1}).label("second").compute(work(20)).done()});
  made.bind(1, {made.block("taker").label("wait").receive(0, Bytes{1}).done()});
  const auto results = run_recorded(made);
  // Device 0 computes for 10 ps, sends in no time, and computes on; device 1 waits until then, and for the message.
  const auto sender = rows_of(results, 0), taker = rows_of(results, 1);
  REQUIRE(sender.size() == 3);
  REQUIRE(taker.size() == 2);
  CHECK(sender[1].end_of_message == MessageEnd::sent);
  CHECK(sender[1].begin == 10);
  CHECK(sender[1].end == 10);
  CHECK(results.labels[sender[2].label] == "second");
  CHECK(sender[2].begin == 10);
  CHECK(sender[2].end == 30);
  CHECK(results.activities[taker[0].activity] == "bubble");
  CHECK(taker[0].end == 10);
  CHECK(taker[0].end_of_message == MessageEnd::none);
  CHECK(taker[1].end == 10 + byte_time + wire_latency);
  CHECK(taker[1].end_of_message == MessageEnd::taken);
  CHECK(results.stream_names == std::vector<results::StreamName>{{0, 0, "main"}, {1, 0, "taker"}});
  CHECK(made.run().results.intervals.empty());
  CHECK(made.run().results.stream_names.empty());
}

TEST_CASE("timelines number messages on each way and channel, and both ends have the same number") {
  // Two on channel 5 with one on channel 6 between them; the second and third are there when device 1 asks for them.
  ProgramCase made(2);
  made.bind(0, {made.block().send(1, Bytes{7}, 5).send(1, Bytes{8}, 6).send(1, Bytes{9}, 5).done()});
  made.bind(1, {made.block()
                    .receive(0, Bytes{7}, 5)
                    .compute(work(1'000'000))
                    .receive(0, Bytes{9}, 5)
                    .receive(0, Bytes{8}, 6)
                    .done()});
  const auto results = run_recorded(made);
  const auto check = [](const results::Interval& one, std::int32_t peer, std::int32_t channel, std::int32_t message,
                        std::int64_t bytes) {
    CHECK(one.peer == peer);
    CHECK(one.channel == channel);
    CHECK(one.message == message);
    CHECK(one.bytes == bytes);
  };
  const auto sent = rows_of(results, 0), taken = rows_of(results, 1);
  REQUIRE(sent.size() == 3);
  check(sent[0], 1, 5, 0, 7);
  check(sent[1], 1, 6, 0, 8);
  check(sent[2], 1, 5, 1, 9);
  REQUIRE(taken.size() == 4);  // the first one, the work, and two that take no time
  check(taken[0], 0, 5, 0, 7);
  check(taken[2], 0, 5, 1, 9);
  check(taken[3], 0, 6, 0, 8);
  CHECK(taken[1].message == -1);
  CHECK(taken[3].begin == taken[3].end);
}

TEST_CASE("timelines say whose micro-batch a pass is of: three forward, then two rounds of both, then three backward") {
  for (const bool shares_cores : {false, true}) {
    ProgramCase made(2);
    made.machine.device.cores = 8;
    made.program.channels = shares_cores ? 2 : 0;  // what computes stands in line, and is accounted for later
    made.group({0, 1});
    const auto layer = made.block("layer").compute(work(5), 2).done();
    const auto forward = made.block("forward").call(layer, 2).done();
    const auto backward = made.block("backward").compute(work(7)).done();
    const auto both = made.block("both")
                          .call(forward, 1, program::forward_pass(0))
                          .call(backward, 1, program::backward_pass(0))
                          .done();
    const auto sum = collective(program::CollectiveKind::all_reduce, 400, "ring");
    const auto main = made.block()
                          .call(forward, 3, program::forward_pass(0))
                          .call(both, 2)
                          .call(backward, 3, program::backward_pass(0))
                          .activity(Activity::data_communication)
                          .collective(sum)
                          .done();
    made.bind(0, {main});
    made.bind(1, {main});
    std::vector<std::int32_t> batches, expected;
    for (const results::Interval& one : rows_of(run_recorded(made), 0)) {
      batches.push_back(one.micro_batch);
      CHECK((one.group == 0) == (one.micro_batch < 0));
    }
    // Each forward pass is two intervals, of a layer each.
    for (const std::int32_t batch : {0, 0, 1, 1, 2, 2, 3, 3, 0, 4, 4, 1, 2, 3, 4, -1}) expected.push_back(batch);
    CHECK(batches == expected);
  }
}

TEST_CASE("timelines name groups by their members") {
  ProgramCase made(12);
  made.group({3, 5});
  made.group({0, 1, 2, 3, 4, 5});
  made.group({0, 2, 4, 6, 8, 10});
  made.group({0, 1, 2, 3, 4, 11});
  const auto groups = run_recorded(made).groups;
  REQUIRE(groups.size() == 4);
  CHECK(groups[0] == "gpu 3, gpu 5");
  CHECK(groups[1] == "gpu 0 to gpu 5");
  CHECK(groups[2] == "gpu 0 to gpu 10 by 2");
  CHECK(groups[3] == "gpu 0, gpu 1, gpu 2 and 3 more");
}
