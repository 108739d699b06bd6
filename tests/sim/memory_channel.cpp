// The memory channel's times, worked out by hand with HBM2's timings at 1 GHz: a
// block of 256 B is 8 bursts, 2 ns apart in one bank group. Blocks 0 to 15 go
// round rows 0 of banks 0 and 1, 16 to 31 round those of banks 2 and 3; from
// block 128 on they are in rows 1. Bank b is in group b modulo 4.
#include <catch2/catch.hpp>

#include "memory_channel_case.hpp"
#include "tessera/base/error.hpp"

using namespace tessera;
using namespace tessera::sim;

namespace {

using Stamps = std::vector<Stamp>;
constexpr Time ns = nanosecond;

ChannelSpec without_latency() {
  ChannelSpec spec;
  spec.latency = 0;
  return spec;
}

}  // namespace

TEST_CASE("memory channel: a closed bank opens its row, then come the bursts, then the data") {
  // tRCD 14, tCL 14, and the burst's 1; a write begins after 11, and its data come after tCWL 2.
  ChannelCase read(without_latency());
  read.push(5 * ns, request(MemoryOp::read, 0, 32));
  read.run();
  CHECK(read.served == Stamps{{0, (5 + 14 + 14 + 1) * ns}});
  CHECK(read.entered == Stamps{{0, 5 * ns}});
  ChannelCase write(without_latency());
  write.push(0, request(MemoryOp::write, 0, 32));
  write.run();
  CHECK(write.served == Stamps{{0, (11 + 2 + 1) * ns}});
  // An update reads its row first.
  ChannelCase update(without_latency());
  update.push(0, request(MemoryOp::update, 0, 32));
  update.run();
  CHECK(update.served == Stamps{{0, (14 + 2 + 1) * ns}});
  // The last of 8 bursts is 14 ns behind the first one. A read's data are at who asked after the latency, too.
  ChannelCase block;
  block.push(0, request(MemoryOp::read, 0, 256));
  block.run();
  CHECK(block.served == Stamps{{0, (14 + 14 + 14 + 1 + 100) * ns}});
}

TEST_CASE("memory channel: an open row is hit, another one has to be closed first") {
  ChannelCase hit(without_latency());
  hit.push(0, request(MemoryOp::read, 0, 256));
  hit.push(100 * ns, request(MemoryOp::read, 2, 256));  // the first burst at once
  hit.run();
  CHECK(hit.served == Stamps{{0, 43 * ns}, {2, (100 + 14 + 14 + 1) * ns}});
  CHECK(hit.channel().counts().activations == 1);
  CHECK(hit.channel().counts().row_hits == 1);
  ChannelCase conflict(without_latency());
  conflict.push(0, request(MemoryOp::read, 0, 256));
  conflict.push(100 * ns, request(MemoryOp::read, 128, 256));  // tRP, tRCD, tCL and the bursts
  conflict.run();
  CHECK(conflict.served == Stamps{{0, 43 * ns}, {128, (100 + 14 + 14 + 14 + 15) * ns}});
  CHECK(conflict.channel().counts().activations == 2);
  CHECK(conflict.channel().counts().row_hits == 0);
}

TEST_CASE("memory channel: rows of a bank are opened tRC apart, and closed tRAS, tRTP or tWR after their use") {
  const auto second = [](MemoryOp op, std::uint32_t bytes, std::uint32_t rc) {
    ChannelSpec spec = without_latency();
    spec.rc = rc;
    ChannelCase test(spec);
    test.push(0, request(op, 0, bytes));
    test.push(0, request(MemoryOp::read, 128, 32));
    test.run();
    return test.served.back().time;
  };
  // Opened at 0, closed at 33 (tRAS), opened at 47 = tRC; 47 + 14 + 15.
  CHECK(second(MemoryOp::read, 32, 47) == 76 * ns);
  CHECK(second(MemoryOp::read, 32, 60) == (60 + 14 + 15) * ns);
  // Eight bursts end at 28, closed at 33 again; 16 at 44, closed 4 later.
  CHECK(second(MemoryOp::read, 256, 47) == 76 * ns);
  CHECK(second(MemoryOp::read, 512, 47) == (44 + 4 + 14 + 14 + 15) * ns);
  // Written at 11 to 25, data until 28, closed 12 later.
  CHECK(second(MemoryOp::write, 256, 47) == (28 + 12 + 14 + 14 + 15) * ns);
}

TEST_CASE("memory channel: banks are opened tRRD apart; two groups fill the bus") {
  ChannelCase test(without_latency());
  for (BlockId block = 0; block < 16; ++block) test.push(0, request(MemoryOp::read, block, 256));
  test.run();
  // Bank 0 from 14 on, bank 1 could from 18 on; the bus is free at 22. Then they take turns, 8 ns each.
  REQUIRE(test.served.size() == 16);
  for (BlockId block = 0; block < 16; ++block)
    CHECK(test.served[block] == Stamp{block, (43 + 8 * static_cast<Time>(block)) * ns});
  CHECK(test.channel().counts().busy == 128 * ns);
  CHECK(test.channel().counts().activations == 2);
  // One group alone fills half of it.
  ChannelCase one(without_latency());
  for (BlockId block = 0; block < 16; block += 2) one.push(0, request(MemoryOp::read, block, 256));
  one.run();
  CHECK(one.served.back() == Stamp{14, (43 + 7 * 16) * ns});
}

TEST_CASE("memory channel: one event a request") {
  ChannelCase test(without_latency());
  for (BlockId block = 0; block < 1'000; ++block) test.push(0, request(MemoryOp::read, block, 256));
  test.run();
  CHECK(test.served.size() == 1'000);
  CHECK(test.asked.size() <= 1'010);
}

TEST_CASE("memory channel: what is ready first goes first, of a bank what hits its row") {
  ChannelCase test(without_latency());
  test.push(0, request(MemoryOp::read, 0, 256));    // bank 0, row 0: from 14 on
  test.push(0, request(MemoryOp::read, 128, 256));  // bank 0, row 1: closed at 33, opened at 47, from 61 on
  test.push(0, request(MemoryOp::read, 16, 256));   // bank 2: opened at 4, and the bus is free at 22
  test.push(0, request(MemoryOp::read, 2, 256));    // bank 0, row 0: its group is free at 30
  test.run();
  // Row 1 is opened when the last hit has begun: closed at 44 + 4, opened at 62, from 76 on.
  CHECK(test.served == Stamps{{0, 43 * ns}, {16, 51 * ns}, {2, 59 * ns}, {128, 105 * ns}});
}

TEST_CASE("memory channel: two streams in one bank cost more than their bursts") {
  const auto served = [](std::uint32_t max_bypass) {
    ChannelSpec spec = without_latency();
    spec.max_bypass = max_bypass;
    ChannelCase test(spec);
    for (const BlockId block : {0U, 2U}) {
      test.push(0, request(MemoryOp::read, block, 256));
      test.push(0, request(MemoryOp::write, block + 128, 256, MemoryStream::communication));
    }
    test.run();
    return test.served;
  };
  // Reads from 14 and 30 on; closed at 48, opened at 62; writes from 73 and 89 on.
  CHECK(served(32) == Stamps{{0, 43 * ns}, {2, 59 * ns}, {128, 90 * ns}, {130, 106 * ns}});
  // In order each opens a row: read from 14 on; closed at 33, opened at 47, written from 58 to 72; closed at 87, opened
  // at 101, read from 115 to 129; closed at 134, opened at 148, written from 159 on.
  CHECK(served(0) == Stamps{{0, 43 * ns}, {128, 75 * ns}, {2, 144 * ns}, {130, 176 * ns}});
}

TEST_CASE("memory channel: a request that was overtaken by too many bursts goes next") {
  const auto served = [](std::uint32_t max_bypass) {
    ChannelSpec spec = without_latency();
    spec.max_bypass = max_bypass;
    ChannelCase test(spec);
    for (const BlockId block : {0U, 128U, 2U, 4U, 6U}) test.push(0, request(MemoryOp::read, block, 256));
    test.run();
    return test.served;
  };
  // Hits from 14, 30, 46, 62 on; closed at 80, opened at 94.
  CHECK(served(32) == Stamps{{0, 43 * ns}, {2, 59 * ns}, {4, 75 * ns}, {6, 91 * ns}, {128, 137 * ns}});
  // After two of them: closed at 64, opened at 78, from 92 to 106; closed at 111, opened at 125, from 139 on.
  CHECK(served(16) == Stamps{{0, 43 * ns}, {2, 59 * ns}, {4, 75 * ns}, {128, 121 * ns}, {6, 168 * ns}});
}

TEST_CASE("memory channel: between reading and writing the bus turns round") {
  ChannelCase test(without_latency());
  test.push(0, request(MemoryOp::read, 0, 256));            // bursts from 14 to 28
  test.push(0, request(MemoryOp::write, 1, 256));           // tRTW: from 28 + 15 to 57
  test.push(61 * ns, request(MemoryOp::read, 2, 256));      // tCWL, the burst, tWTR: from 57 + 2 + 1 + 3 on
  test.push(200 * ns, request(MemoryOp::write, 3, 256));    // long after
  test.push(200 * ns, request(MemoryOp::update, 17, 256));  // writes as well: opened, no turning
  test.run();
  CHECK(test.served == Stamps{{0, 43 * ns}, {1, 60 * ns}, {2, 92 * ns}, {3, 217 * ns}, {17, 245 * ns}});
  CHECK(test.channel().counts().turnarounds == 3);
  CHECK(test.channel().counts().busy == 40 * ns);
}

TEST_CASE("memory channel: an updated bank group takes its next burst after tCCDWL") {
  ChannelCase one(without_latency());
  // Eight bursts 4 ns apart: from 14 to 42, the next ones from 46 to 74.
  for (const BlockId block : {0U, 2U}) one.push(0, request(MemoryOp::update, block, 256));
  one.run();
  CHECK(one.served == Stamps{{0, 45 * ns}, {2, 77 * ns}});
  ChannelCase four(without_latency());
  // Four groups fill the bus: from 14, 22, 30 and 38 on, and the first one again at 46.
  for (const BlockId block : {0U, 1U, 16U, 17U, 2U}) four.push(0, request(MemoryOp::update, block, 256));
  four.run();
  CHECK(four.served == Stamps{{0, 45 * ns}, {1, 53 * ns}, {16, 61 * ns}, {17, 69 * ns}, {2, 77 * ns}});
}

TEST_CASE("memory channel: no request overtakes an older one of the same block") {
  ChannelCase test(without_latency());
  test.push(0, request(MemoryOp::read, 0, 256));
  test.push(0, request(MemoryOp::update, 2, 256));
  test.push(0, request(MemoryOp::read, 2, 256));  // in the bus's direction, and of an open row
  test.run();
  // Read from 14 to 28, updated from 43 to 71, read from 77 on.
  CHECK(test.served == Stamps{{0, 43 * ns}, {2, 74 * ns}, {2, 106 * ns}});
}

TEST_CASE("memory channel: the DRAM queue holds so many bursts, and what does not fit waits in order") {
  ChannelSpec spec = without_latency();
  spec.queue = 16;
  ChannelCase test(spec);
  for (BlockId block = 0; block < 4; ++block) test.push(0, request(MemoryOp::read, block, 256));
  test.push(0, request(MemoryOp::read, 4, 1024));  // more than the queue: only when it is empty
  test.push(0, request(MemoryOp::read, 5, 64));    // does not overtake
  CHECK(test.channel().occupancy() == 16);
  CHECK(test.channel().waiting(MemoryStream::compute) == 4);
  CHECK(test.channel().waiting_bursts(MemoryStream::compute) == 8 + 8 + 32 + 2);
  test.run();
  // Served from 14, 22, 30, 38 on; 4 from 46 on, when its group is free, with 32 bursts on the bus; 5 behind it.
  CHECK(test.entered == Stamps{{0, 0}, {1, 0}, {2, 14 * ns}, {3, 22 * ns}, {4, 38 * ns}, {5, 46 * ns}});
  CHECK(test.served.back() == Stamp{5, (78 + 2 + 15) * ns});
  CHECK(test.channel().counts().peak_waiting == std::array<std::int64_t, 2>{50, 0});
}

TEST_CASE("memory channel: what the sink pushes while it is told of an entry comes behind what waits") {
  ChannelCase test(without_latency());
  test.on_enqueued = [&](const MemoryRequest& entered, Time now) {
    if (entered.block < 3)  // as a Tracker does that starts a DMA read
      test.channel().push(now, request(MemoryOp::read, entered.block + 10, 256, MemoryStream::communication));
  };
  for (BlockId block = 0; block < 3; ++block) test.push(0, request(MemoryOp::read, block, 256));
  test.run();
  CHECK(test.entered == Stamps{{0, 0}, {10, 0}, {1, 0}, {11, 0}, {2, 0}, {12, 0}});
}

TEST_CASE("memory channel: mean occupancy is an exact ratio") {
  ChannelCase test(without_latency());
  test.push(0, request(MemoryOp::read, 0, 256));  // waits for its row from 0 to 14
  test.channel().begin_observation(0);
  test.push(20 * ns, request(MemoryOp::read, 2, 256));  // for its group, from 20 to 30
  test.run();
  CHECK(test.channel().end_observation(40 * ns) == OccupancySum{8 * (14 + 10) * ns, 40 * ns});
  test.channel().begin_observation(40 * ns);
  CHECK(test.channel().end_observation(50 * ns) == OccupancySum{0, 10 * ns});
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
  const ChannelCounts counts = test.channel().counts();
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
  refused([](ChannelSpec& spec) { spec.ccds = 0; });
  refused([](ChannelSpec& spec) { spec.bank_groups = 0; });
  refused([](ChannelSpec& spec) { spec.banks = 0; });
  refused([](ChannelSpec& spec) { spec.banks = 65; });
  refused([](ChannelSpec& spec) { spec.row_blocks = 0; });
  refused([](ChannelSpec& spec) { spec.block_bursts = 0; });
  refused([](ChannelSpec& spec) { spec.queue = 0; });
  refused([](ChannelSpec& spec) { spec.latency = -1; });
  ChannelCase test;
  CHECK_THROWS_AS(test.push(0, request(MemoryOp::read, 0, 0)), InternalError);
}
