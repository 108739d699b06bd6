// Each arbitration policy on a scripted queue. Reads of 256 B, 8 bursts, take
// 8,000 ps each, back to back: rows open at once.
#include <catch2/catch.hpp>

#include "memory_channel_case.hpp"
#include "tessera/base/config.hpp"
#include "tessera/base/error.hpp"

using namespace tessera;
using namespace tessera::sim;

namespace {

constexpr auto compute = MemoryStream::compute;
constexpr auto communication = MemoryStream::communication;
using Stamps = std::vector<Stamp>;

/// Room for two waiting requests, so that the streams fill up behind them.
ChannelSpec short_queue() {
  ChannelSpec spec = bus_alone();
  spec.latency = 0;
  spec.queue = 16;
  return spec;
}

ChannelSpec long_queue() {
  ChannelSpec spec = bus_alone();
  spec.latency = 0;
  return spec;
}

/// The limit is that of a burst; requests here have eight.
ArbitrationSpec mca(std::uint32_t threshold, Time starvation_limit = 1 * millisecond) {
  return {"mca", threshold, starvation_limit};
}

/// Compute requests are blocks 0, 1, ..; those of communication 100, 101, ..
void push(ChannelCase& test, Time now, MemoryStream stream, int count = 1) {
  for (int i = 0; i < count; ++i) {
    std::uint64_t block = stream == communication ? 100 : 0;
    for (const Stamp& stamp : test.entered) block += (stamp.block >= 100) == (stream == communication) ? 1 : 0;
    block += test.channel().waiting(stream);
    test.push(now, request(MemoryOp::read, block, 256, stream));
  }
}

std::vector<BlockId> order(const ChannelCase& test) {
  std::vector<BlockId> blocks;
  for (const Stamp& stamp : test.entered) blocks.push_back(stamp.block);
  return blocks;
}

/// Opens at a given time, or at the one that is found for the producer.
class OpensAt final : public ArbitrationPolicy {
 public:
  explicit OpensAt(Time time) : time_(time) {}
  [[nodiscard]] ArbitrationChoice choose(const ArbitrationView& view, const ArbitrationState& state) const override {
    const Time time = state.threshold ? *state.threshold : time_;
    if (view.now < time) return {std::nullopt, time};
    return view.has(compute) ? ArbitrationChoice{compute, never} : ArbitrationChoice{};
  }

 private:
  Time time_;
};

}  // namespace

TEST_CASE(
    "arbitration: round-robin takes turns, and falls back to the stream "
    "that is not empty") {
  ChannelCase test(short_queue(), {"round-robin", 0, 0});
  push(test, 0, compute, 5);        // 0, 1, 2 enter; 3 and 4 wait
  push(test, 0, communication, 4);  // their turn is next
  test.run();
  CHECK(order(test) == std::vector<BlockId>{0, 1, 2, 100, 3, 101, 4, 102, 103});
  // The fourth enters when the second is taken, at 8,000; from then on one with
  // each service.
  CHECK(test.entered[3] == Stamp{100, 8'000});
  CHECK(test.entered[8] == Stamp{103, 48'000});
  CHECK(test.served.back() == Stamp{103, 72'000});
}

TEST_CASE(
    "arbitration: compute-first lets communication in when compute is "
    "empty, and what is in stays in") {
  ChannelCase test(short_queue(), {"compute-first", 0, 0});
  push(test, 0, communication,
       4);                        // 100, 101, 102 enter an idle channel; 103 waits
  push(test, 1'000, compute, 3);  // before 103, but behind those that entered
  test.run();
  CHECK(test.entered == Stamps{{100, 0}, {101, 0}, {102, 0}, {0, 8'000}, {1, 16'000}, {2, 24'000}, {103, 32'000}});
  CHECK(test.served[3] == Stamp{0, 32'000});
}

TEST_CASE(
    "arbitration: mca holds communication back while the queue holds its "
    "threshold or more") {
  ChannelCase test(long_queue(), mca(10));
  push(test, 0, compute, 3);  // one in service, two in the queue: 16 bursts
  push(test, 1'000,
       communication);                // 16 >= 10; at 8,000 a request is taken: 8 < 10
  push(test, 9'000, communication);   // 8 and 8 of the first: 16; at 16,000: 8
  push(test, 17'000, communication);  // 8 + 8 again until 24,000
  push(test, 17'500, compute);        // compute never waits for the threshold
  test.run();
  // At 24,000 the queue gives 100 away and holds 101 and the compute request;
  // at 32,000 only the latter.
  CHECK(test.entered == Stamps{{0, 0}, {1, 0}, {2, 0}, {100, 8'000}, {101, 16'000}, {3, 17'500}, {102, 32'000}});
  CHECK(test.served.back() == Stamp{102, 56'000});
}

TEST_CASE("arbitration: mca's thresholds of 5, 10, 30 and none") {
  // 16 requests of communication at time 0: the first is served at once, and
  // requests of 8 bursts enter while the queue holds less than the threshold: 8
  // >= 5; 16 >= 10; 32 >= 30; the whole queue, 64 bursts.
  const auto occupied = [](std::uint32_t threshold) {
    ChannelCase test(long_queue(), mca(threshold));
    push(test, 0, communication, 16);
    const std::uint32_t at_first = test.channel().occupancy();
    test.run();
    CHECK(test.served.size() == 16);
    CHECK(test.served.back().time == 128'000);  // DRAM is never idle for it
    return at_first;
  };
  CHECK(occupied(5) == 8);
  CHECK(occupied(10) == 16);
  CHECK(occupied(30) == 32);
  CHECK(occupied(unlimited_occupancy) == 64);
}

TEST_CASE(
    "arbitration: mca lets communication in that has starved, to the "
    "picosecond") {
  ChannelCase test(long_queue(), mca(10, 20'800 / 8));
  push(test, 0, compute, 8);  // the queue holds 56 bursts, and with what starves falls below 10 at 64,000 only
  push(test, 1'000, communication,
       3);  // waits since 1,000: in at 21,800, between two services; the next at
            // 42,600
  test.run();
  CHECK(test.entered[8] == Stamp{100, 21'800});
  CHECK(test.entered[9] == Stamp{101, 42'600});
  CHECK(test.entered[10] == Stamp{102, 63'400});
  CHECK(test.served[8] == Stamp{100, 72'000});
  CHECK(test.asked.size() == 10 + 3);  // one call more for each of these
}

TEST_CASE("arbitration: mca prefers starved communication to compute that waits") {
  ChannelCase test(short_queue(), mca(10, 20'000 / 8));
  push(test, 0, compute, 8);         // two in the queue, five wait
  push(test, 1'000, communication);  // starves at 21,000; the next place in the
                                     // queue is free at 24,000
  test.run();
  CHECK(test.entered[4] == Stamp{4, 16'000});
  CHECK(test.entered[5] == Stamp{100, 24'000});
  CHECK(test.entered[6] == Stamp{5, 32'000});
}

TEST_CASE("arbitration: a stream that was empty has not starved") {
  ChannelCase test(long_queue(), mca(10, 20'000 / 8));
  push(test, 100'000, compute, 5);  // nothing came for 100,000
  push(test, 100'000,
       communication);  // starves at 120,000; the queue falls below 10 at 124,000
  test.run();
  CHECK(test.entered.back() == Stamp{100, 120'000});
}

TEST_CASE("arbitration: mca drains communication when the producer has ended") {
  ChannelCase test(long_queue(), mca(10));
  push(test, 0, compute, 5);
  push(test, 1'000, communication, 3);
  test.run_until(5'000);
  CHECK(test.channel().waiting(communication) == 3);
  test.channel().producer_ended(5'000);
  CHECK(test.channel().waiting(communication) == 0);
  test.channel().producer_began(6'000);
  push(test, 6'000, communication);  // held back again
  CHECK(test.channel().waiting(communication) == 1);
  test.channel().set_threshold(7'000, 60);  // 32 + 24 < 60
  CHECK(test.channel().waiting(communication) == 0);
  test.run();
  CHECK(test.entered[5] == Stamp{100, 5'000});
  CHECK(test.entered[8] == Stamp{103, 7'000});
  CHECK(test.served.back() == Stamp{103, 72'000});
}

TEST_CASE("arbitration: a producer's threshold holds for no other producer") {
  // None until the first one is known: 64 bursts enter. With 5, only one of 8. The next producer begins without one.
  const auto entered = [](bool begins_again) {
    ChannelCase test(long_queue(), mca(unlimited_occupancy));
    test.channel().producer_began(0);
    test.channel().set_threshold(0, 5);
    if (begins_again) test.channel().producer_began(0);
    push(test, 0, communication, 16);
    return test.channel().occupancy();
  };
  CHECK(entered(false) == 8);
  CHECK(entered(true) == 64);
}

TEST_CASE("arbitration: a policy without thresholds ignores them") {
  ChannelCase test(short_queue(), {"compute-first", 1, 1});
  test.channel().set_threshold(0, 1);
  test.channel().producer_ended(0);
  push(test, 0, communication, 3);
  CHECK(test.channel().occupancy() == 16);
}

TEST_CASE("arbitration: the time to look again may come nearer or move away") {
  const auto opened = [](std::uint32_t changed) {
    ChannelCase test(long_queue(), std::make_unique<OpensAt>(50'000));
    push(test, 1'000, compute);
    test.channel().set_threshold(2'000, changed);
    test.run();
    return test.entered;
  };
  CHECK(opened(20'000) == Stamps{{0, 20'000}});
  CHECK(opened(70'000) == Stamps{{0, 70'000}});
  ChannelCase never_later(long_queue(), std::make_unique<OpensAt>(never));
  push(never_later, 0, compute);
  CHECK(never_later.asked.empty());
}

TEST_CASE("arbitration: the more intensive the kernel, the lower the threshold") {
  const IntensityLevels levels;
  CHECK(threshold_for({32'000, 1'000}, levels) == 5);
  CHECK(threshold_for({31'999, 1'000}, levels) == 10);
  CHECK(threshold_for({16'000, 1'000}, levels) == 10);
  CHECK(threshold_for({15'999, 1'000}, levels) == 30);
  CHECK(threshold_for({8'000, 1'000}, levels) == 30);
  CHECK(threshold_for({7'999, 1'000}, levels) == unlimited_occupancy);
  CHECK(threshold_for({}, levels) == unlimited_occupancy);
  OccupancySum both{60'000, 1'000};  // 60 bursts in one channel, 3 in the other: 31.5 in the mean
  both += {3'000, 1'000};
  CHECK(threshold_for(both, levels) == 10);
}

TEST_CASE("arbitration: policies are found by name") {
  CHECK(config::names_of(arbitration_kinds()) == std::vector<std::string>{"round-robin", "compute-first", "mca"});
  CHECK_THROWS_WITH(make_arbitration({"compute_first", 0, 0}),
                    "unknown memory arbitration \"compute_first\" (did you mean "
                    "\"compute-first\"?), "
                    "allowed: round-robin, compute-first, mca");
  CHECK_THROWS_AS(make_arbitration({"mca", 5, -1}), InputError);
}
