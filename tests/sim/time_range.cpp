// Up to the end of time, 2^63 - 2 ps, and not a picosecond further: worked out by hand.
#include <catch2/catch.hpp>

#include "memory_channel_case.hpp"
#include "program_case.hpp"
#include "tessera/base/error.hpp"

using namespace tessera;
using namespace tessera::test;
using program::Activity;

namespace {

const std::string beyond = "simulated time goes beyond 106 days, the longest that can be simulated: ";

/// Device 0 computes for so long, then sends 100 B to device 1: 100,000 ps on the wire and 500 ps of latency.
ProgramCase compute_and_send(Time computing) {
  ProgramCase two(2);
  two.bind(0, {two.block().compute(work(computing)).send(1, Bytes{100}).done()});
  two.bind(1, {two.block().receive(0, Bytes{100}).done()});
  return two;
}

}  // namespace

TEST_CASE("an operator may end in the last picosecond, and not after it") {
  ProgramCase alone(1);
  alone.bind(0, {alone.block().compute(work(latest)).done()});
  const results::RunResults results = alone.run().results;
  CHECK(results.iteration_time == latest);
  CHECK(time_of(results.device_rows[0], Activity::forward) == latest);
  CHECK(time_of(results.device_rows[0], Activity::idle) == 0);

  ProgramCase longer(1);
  longer.bind(0, {longer.block().compute(work(latest)).compute(work(1)).done()});
  CHECK(longer.refusal() == beyond + "operator \"work\" on gpu 0, begun at 9223372 s");

  // 850 times 2^62 / 425 ps is 2^63: product and sum would wrap to nothing.
  ProgramCase repeated(1);
  repeated.bind(0, {repeated.block().compute(work((Time{1} << 62U) / 425), 850).compute(work(850)).done()});
  CHECK(repeated.refusal().rfind(beyond + "operator \"work\" on gpu 0", 0) == 0);
}

TEST_CASE("streams that take turns may compute up to the last picosecond") {
  // Two streams compute half of all time each; one of them a picosecond longer is too long.
  for (const Time more : {0, 1}) {
    ProgramCase alone(1);
    const Time half = latest / 2;
    alone.bind(0, {alone.block().compute(work(half)).done(), alone.block("other").compute(work(half + more)).done()});
    if (more == 0) {
      CHECK(alone.run().results.iteration_time == latest);
    } else {
      CHECK(alone.refusal() == beyond + "operator \"work\" on gpu 0, begun at 0 ps");
    }
  }
}

TEST_CASE("a message may arrive in the last picosecond, and not after it") {
  const Time wire = 100'000 + wire_latency;
  const results::RunResults results = compute_and_send(latest - wire).run().results;
  CHECK(results.iteration_time == latest);
  CHECK(results.device_rows[1].finished == latest);
  CHECK(compute_and_send(latest - wire + 1).refusal() == beyond + "the link from gpu 0 to gpu 1");
  // The same where the bytes leave in time and only the latency is too much, and where not even they do.
  CHECK(compute_and_send(latest - 100'000).refusal() == beyond + "the link from gpu 0 to gpu 1");
  CHECK(compute_and_send(latest - 1).refusal() == beyond + "the link from gpu 0 to gpu 1");
}

TEST_CASE("a message that takes longer than all time is refused when it is sent") {
  // 10^16 B at 10^9 B/s are 10^7 s; in two messages, either is short enough.
  ProgramCase two(2);
  two.machine.network.packet = Bytes{1 << 30};
  const std::int64_t bytes = 10'000'000'000'000'000;
  two.bind(0, {two.block().send(1, Bytes{bytes}).done()});
  two.bind(1, {two.block().receive(0, Bytes{bytes}).done()});
  CHECK(two.refusal() == beyond + "the link from gpu 0 to gpu 1");
  ProgramCase halves(2);
  halves.machine.network.packet = Bytes{1 << 30};
  halves.bind(0, {halves.block().send(1, Bytes{bytes / 2}).send(1, Bytes{bytes / 2}).done()});
  halves.bind(1, {halves.block().receive(0, Bytes{bytes / 2}).receive(0, Bytes{bytes / 2}).done()});
  CHECK(halves.refusal() == beyond + "the link from gpu 0 to gpu 1");
}

TEST_CASE("what a collective adds may take up to the last picosecond") {
  // Two devices exchange halves of 100 B and add them: a picosecond a byte after the last message.
  const auto reduce = [](Time computing) {
    ProgramCase two(2);
    two.group({0, 1});
    for (program::DeviceId device = 0; device < 2; ++device)
      two.bind(device, {two.block()
                            .compute(work(computing))
                            .label("sum")
                            .collective(collective(program::CollectiveKind::reduce_scatter, 100, "ring"))
                            .done()});
    return two;
  };
  const Time step = 50'000 + wire_latency + 50;
  CHECK(reduce(latest - step).run().results.iteration_time == latest);
  CHECK(reduce(latest - step + 1).refusal() == beyond + "\"sum\" on gpu 0, begun at 9223372 s");
}

TEST_CASE("a memory channel serves no transaction that could end after the last picosecond") {
  using namespace tessera::sim;
  const MemoryRequest request{0, 256, MemoryOp::read, MemoryStream::compute, TrafficClass::gemm_read, 0, 0};
  ChannelCase in_time;
  in_time.push(latest - microsecond, request);
  in_time.run();
  REQUIRE(in_time.served.size() == 1);
  CHECK(in_time.served[0].time == latest - microsecond + 43'000 + 100'000);
  ChannelCase too_late;
  CHECK_THROWS_AS(too_late.push(latest - nanosecond, request), BeyondTimeError);
  ChannelSpec slow;
  slow.clock_period = 1'000 * second;
  CHECK_THROWS_AS(ChannelCase(slow), InputError);
}
