// The memory channel's times, worked out by hand: 1 GHz, bursts of 2 clocks, so
// 256 B take 8,000 ps.
#include <catch2/catch.hpp>

#include "memory_channel_case.hpp"
#include "tessera/base/error.hpp"

using namespace tessera;
using namespace tessera::sim;

namespace {

using Stamps = std::vector<Stamp>;

ChannelSpec without_latency() {
  ChannelSpec spec;
  spec.latency = 0;
  return spec;
}

}  // namespace

TEST_CASE(
    "memory channel: a transaction costs its bursts, a read its latency "
    "as well") {
  ChannelCase test;
  // 256 B are 4 bursts of 2,000 ps from 500 on; data come 100,000 later.
  test.push(500, request(MemoryOp::read, 1, 256));
  // 65 B are 2 bursts; the bus, idle for long, has turned round already; a
  // write is done when its service ends.
  test.push(50'000, request(MemoryOp::write, 2, 65));
  test.run();
  CHECK(test.served == Stamps{{1, 108'500}, {2, 54'000}});
  CHECK(test.entered == Stamps{{1, 500}, {2, 50'000}});
}

TEST_CASE(
    "memory channel: one stream and direction is first in, first out, "
    "back to back, one event each") {
  ChannelCase test(without_latency());
  for (BlockId block = 0; block < 1'000; ++block) test.push(0, request(MemoryOp::read, block, 256));
  test.run();
  REQUIRE(test.served.size() == 1'000);
  for (BlockId block = 0; block < 1'000; ++block) {
    CHECK(test.served[block] == Stamp{block, 8'000 * (static_cast<Time>(block) + 1)});
  }
  CHECK(test.asked.size() == 999);  // the first is served when it comes
  CHECK(test.channel().counts().busy == 8'000'000);
  CHECK(test.channel().counts().turnarounds == 0);
}

TEST_CASE("memory channel: between reading and writing lie 10 clocks") {
  ChannelCase test(without_latency());
  test.push(0, request(MemoryOp::read, 0, 256));
  test.push(0, request(MemoryOp::write, 1, 256));  // 8,000 + 10,000 of turning + 8,000
  test.push(30'000, request(MemoryOp::read, 2,
                            256));                        // idle for 4 of the 10 clocks: 36,000 + 8,000
  test.push(100'000, request(MemoryOp::write, 3, 256));   // idle for longer: at once
  test.push(100'000, request(MemoryOp::update, 4, 256));  // writes as well: no turning
  test.run();
  CHECK(test.served == Stamps{{0, 8'000}, {1, 26'000}, {2, 44'000}, {3, 108'000}, {4, 116'000}});
  CHECK(test.channel().counts().turnarounds == 3);
  CHECK(test.channel().counts().busy == 40'000);
}

TEST_CASE("memory channel: updates round the bank groups are not slowed") {
  ChannelCase test(without_latency());
  // Each begins in group 0; that group was updated last by a burst 8 clocks
  // before.
  for (BlockId block = 0; block < 20; ++block) test.push(0, request(MemoryOp::update, block, 256));
  test.run();
  CHECK(test.served.back() == Stamp{19, 160'000});
  CHECK(test.channel().counts().stalled == 0);
}

TEST_CASE(
    "memory channel: the bank group that was just updated takes its next "
    "burst after 4 clocks") {
  ChannelCase test(without_latency());
  // Groups 0 1 2 3 0 at clocks 0 2 4 6 8: ends at 10. The next one begins in
  // group 0: at 8 + 4 = 12.
  test.push(0, request(MemoryOp::update, 0, 320));
  test.push(0, request(MemoryOp::update, 1, 64));  // group 0 at 12, ends at 14
  test.push(0, request(MemoryOp::write, 2, 64));   // no update, but the one before it
                                                   // was: group 0 at 16, ends at 18
  test.push(0, request(MemoryOp::write, 3,
                       64));                       // after a plain write nothing waits: ends at 20
  test.push(0, request(MemoryOp::update, 4, 64));  // nor does an update: ends at 22
  test.run();
  CHECK(test.served == Stamps{{0, 10'000}, {1, 14'000}, {2, 18'000}, {3, 20'000}, {4, 22'000}});
  CHECK(test.channel().counts().stalled == 4'000);
  CHECK(test.channel().counts().busy == 22'000);
}

TEST_CASE("memory channel: updates of consecutive bursts in one bank group wait for each other") {
  ChannelSpec spec = without_latency();
  spec.group_bursts = 4;
  ChannelCase test(spec);
  // Group 0 at clocks 0 4 8 12, group 1 at 14 18 22 26: ends at 28.
  test.push(0, request(MemoryOp::update, 0, 512));
  test.push(0, request(MemoryOp::write, 1, 256));  // group 1 is ready at 26 + 4: ends at 38
  test.run();
  CHECK(test.served == Stamps{{0, 28'000}, {1, 38'000}});
}

TEST_CASE("memory channel: blocks of one burst begin in group after group") {
  ChannelSpec spec = without_latency();
  spec.block_bursts = 1;
  ChannelCase test(spec);
  test.push(0, request(MemoryOp::update, 6, 64));  // group 2
  test.push(0, request(MemoryOp::update, 7, 64));  // group 3: ends at 4
  test.push(0, request(MemoryOp::update, 3,
                       64));                       // group 3 again, at 2 + 4 = 6: ends at 8
  test.push(0, request(MemoryOp::update, 2, 64));  // group 2, free since 4: ends at 10
  test.run();
  CHECK(test.served == Stamps{{6, 2'000}, {7, 4'000}, {3, 8'000}, {2, 10'000}});
}

TEST_CASE(
    "memory channel: a burst in the middle of a transaction waits for "
    "its group, those behind it with it") {
  ChannelSpec spec = without_latency();
  spec.block_bursts = 1;
  spec.ccdwl = 6;
  spec.turnaround = 0;
  ChannelCase test(spec);
  test.push(0, request(MemoryOp::update, 1, 64));  // group 1 at 0: ready again at 6
  test.push(0, request(MemoryOp::read, 0,
                       384));  // groups 0 1 2 3 0 1 at 2, 6, 8, 10, 12, 14: ends at 16
  test.run();
  CHECK(test.served == Stamps{{1, 2'000}, {0, 16'000}});
  CHECK(test.channel().counts().stalled == 2'000);
}

TEST_CASE(
    "memory channel: updates wait for their own groups where a round is "
    "shorter than CCDWL") {
  ChannelSpec spec = without_latency();
  spec.ccdwl = 12;
  ChannelCase test(spec);
  // Rounds of 4 bursts take 12 clocks instead of 8: starts at 0 2 4 6, 12 14 16
  // 18, 24: ends at 26.
  test.push(0, request(MemoryOp::update, 0, 576));
  // Group 0 at 24 + 12 = 36; groups 1, 2, 3 have waited long enough: ends
  // at 44.
  test.push(0, request(MemoryOp::write, 1, 256));
  test.run();
  CHECK(test.served == Stamps{{0, 26'000}, {1, 44'000}});
}

TEST_CASE("memory channel: the DRAM queue holds so many bursts") {
  ChannelSpec spec = without_latency();
  spec.queue = 8;
  ChannelCase test(spec);
  for (BlockId block = 0; block < 4; ++block) test.push(0, request(MemoryOp::read, block, 256));
  test.push(0, request(MemoryOp::read, 4,
                       1024));                   // more than the queue: only when it is empty
  test.push(0, request(MemoryOp::read, 5, 64));  // does not overtake
  CHECK(test.channel().occupancy() == 8);
  CHECK(test.channel().waiting(MemoryStream::compute) == 3);
  test.run();
  // 0 is served at once, 1 and 2 fill the queue, 3 enters when 1 is taken; 4
  // when 3 is taken, at 24,000; it leaves at 32,000, and 5 enters.
  CHECK(test.entered == Stamps{{0, 0}, {1, 0}, {2, 0}, {3, 8'000}, {4, 24'000}, {5, 32'000}});
  CHECK(test.served.back() == Stamp{5, 66'000});
  CHECK(test.channel().counts().peak_waiting == std::array<std::int64_t, 2>{21, 0});  // 4 + 16 + 1
}

TEST_CASE(
    "memory channel: requests of the bus's direction go first, until one "
    "was overtaken too often") {
  const auto order = [](std::uint32_t max_bypass) {
    ChannelSpec spec = without_latency();
    spec.max_bypass = max_bypass;
    ChannelCase test(spec);
    test.push(0, request(MemoryOp::read, 0, 256));
    test.push(0, request(MemoryOp::write, 1, 256));
    test.push(0, request(MemoryOp::read, 2, 256));
    test.push(0, request(MemoryOp::read, 3, 256));
    test.run();
    return test.served;
  };
  // Both reads overtake the write, 8 bursts in all: one turn.
  CHECK(order(32) == Stamps{{0, 8'000}, {2, 16'000}, {3, 24'000}, {1, 42'000}});
  CHECK(order(5) == Stamps{{0, 8'000}, {2, 16'000}, {3, 24'000}, {1, 42'000}});
  // After the 4 bursts of one read it is the write's turn.
  CHECK(order(4) == Stamps{{0, 8'000}, {2, 16'000}, {1, 34'000}, {3, 52'000}});
  // Strictly first in, first out.
  CHECK(order(0) == Stamps{{0, 8'000}, {1, 26'000}, {2, 44'000}, {3, 52'000}});
}

TEST_CASE("memory channel: no request overtakes an older one of the same block") {
  ChannelCase test(without_latency());
  test.push(0, request(MemoryOp::read, 0, 256));
  test.push(0, request(MemoryOp::write, 1, 256));
  test.push(0, request(MemoryOp::update, 2, 256));
  test.push(0, request(MemoryOp::read, 2, 256));    // waits for the update, and so for the write before it
  test.push(0, request(MemoryOp::read, 3, 256));    // is behind it
  test.push(0, request(MemoryOp::update, 3, 256));  // is of the bus's direction then, but waits for that read
  test.run();
  // 8,000; turn; 1 and 2, until 34,000; 3's update would go on, were it not for its read: turn; 2 and 3, until 60,000;
  // turn. Each wait for a bank group after an update has passed while the bus turned.
  CHECK(test.served == Stamps{{0, 8'000}, {1, 26'000}, {2, 34'000}, {2, 52'000}, {3, 60'000}, {3, 78'000}});
}

TEST_CASE(
    "memory channel: what the sink pushes while it is told of an entry "
    "comes behind what waits") {
  ChannelCase test(without_latency());
  test.on_enqueued = [&](const MemoryRequest& entered, Time now) {
    if (entered.block < 3) {  // as a Tracker does that starts a DMA read
      test.channel().push(now, request(MemoryOp::read, entered.block + 10, 256, MemoryStream::communication));
    }
  };
  for (BlockId block = 0; block < 3; ++block) test.push(0, request(MemoryOp::read, block, 256));
  test.run();
  // The first two enter when they are pushed: 0, and 10 from within; then 1 and
  // 11, 2 and 12.
  CHECK(test.served == Stamps{{0, 8'000}, {10, 16'000}, {1, 24'000}, {11, 32'000}, {2, 40'000}, {12, 48'000}});
}

TEST_CASE("memory channel: mean occupancy is an exact ratio") {
  ChannelCase test(without_latency());
  test.push(0, request(MemoryOp::read, 0, 256));
  test.channel().begin_observation(0);
  test.push(2'000, request(MemoryOp::read, 1,
                           256));                     // waits from 2,000 to 8,000: 4 bursts
  test.push(5'000, request(MemoryOp::read, 2, 128));  // from 5,000 to 16,000: 2 bursts
  test.run();
  // 4 * 6,000 + 2 * 11,000 over 20,000: 2.3 bursts.
  CHECK(test.channel().end_observation(20'000) == OccupancySum{46'000, 20'000});
  test.channel().begin_observation(20'000);
  CHECK(test.channel().end_observation(30'000) == OccupancySum{0, 10'000});
}

TEST_CASE("memory channel: traffic is counted by class") {
  ChannelCase test;
  MemoryRequest own = request(MemoryOp::read, 0, 200);
  own.traffic = TrafficClass::gemm_read;
  test.push(0, own);
  test.push(0, own);
  MemoryRequest updated = request(MemoryOp::update, 0, 256, MemoryStream::communication);
  updated.traffic = TrafficClass::reduce_scatter_write;  // an op-and-store is one write
  test.push(0, updated);
  test.run();
  const ChannelCounts& counts = test.channel().counts();
  CHECK(counts.bytes == std::array<std::int64_t, traffic_class_count>{400, 0, 0, 256, 0, 0, 0});
  CHECK(counts.transactions == std::array<std::int64_t, traffic_class_count>{2, 0, 0, 1, 0, 0, 0});
}

TEST_CASE("memory channel: values without sense are refused") {
  const auto refused = [](void (*change)(ChannelSpec&)) {
    ChannelSpec spec;
    change(spec);
    CHECK_THROWS_AS(ChannelCase(spec), InputError);
  };
  refused([](ChannelSpec& spec) { spec.clock_period = 0; });
  refused([](ChannelSpec& spec) { spec.ccdl = 0; });
  refused([](ChannelSpec& spec) { spec.bank_groups = 0; });
  refused([](ChannelSpec& spec) { spec.block_bursts = 0; });
  refused([](ChannelSpec& spec) { spec.queue = 0; });
  refused([](ChannelSpec& spec) { spec.latency = -1; });
  ChannelCase test;
  CHECK_THROWS_AS(test.push(0, request(MemoryOp::read, 0, 0)), InternalError);
}
