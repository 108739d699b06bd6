// Inputs through the chips of a package, simulated: intervals solved by hand, and what is reckoned beforehand.
#include <algorithm>
#include <catch2/catch.hpp>

#include "program/machines.hpp"
#include "strategy/mcm/package_program.hpp"
#include "strategy/mcm_packages.hpp"
#include "tessera/program/steady.hpp"
#include "tessera/sim/simulate.hpp"

using namespace tessera;
using namespace tessera::strategy::mcm;
using namespace tessera::strategy::mcm::tests;

namespace {

/// 1 GB/s (1 ns a byte), packets of 100 B.
machine::Machine package_machine(std::uint32_t chips, const std::string& latency) {
  machine::Machine machine =
      program::machine_of("kind = \"package\"\nchiplets = " + std::to_string(std::max(2U, chips)) +
                          "\nbandwidth = \"1 GB/s\"\nlatency = \"" + latency + "\"\n");
  machine.network.packet = Bytes{100};
  machine.device.memory_capacity = Bytes{1'000'000'000'000};
  return machine;
}

struct HostCost final : workload::CostModel {
  [[nodiscard]] Time time(const workload::Operator& op, const machine::DeviceSpec&) const override {
    return op.host_time;
  }
};

struct Piped {
  Time interval = 0, all = 0;
  std::vector<std::int64_t> peaks;
};

Piped piped(const Package& package, const Partition& partition, std::int64_t inputs, std::int64_t depth = 2,
            const std::string& latency = "1 ns", std::int64_t send_buffers = 2) {
  const machine::Machine machine = package_machine(package.chips(), latency);
  program::Program empty;
  empty.devices.resize(machine.devices());
  const program::Program program = package_program(
      package, chip_work(package, partition, {NodeSchedule::least_memory, depth, send_buffers}), empty, inputs);
  const auto comm = make_serial_communicator();
  const results::RunResults results = sim::simulate(machine, program, HostCost{}, *comm, {}).results;
  Piped found{results.interval, results.iteration_time, std::vector<std::int64_t>(machine.devices(), 0)};
  for (const results::DeviceRow& row : results.device_rows) found.peaks[row.device] = row.peak_memory;
  return found;
}

/// Three nodes in a row, on a chip each; tensors of that many bytes.
Package three(Time a, Time b, Time c, std::int64_t bytes) {
  GraphCase made;
  const auto first = made.node("a", a, {}, {bytes});
  const auto second = made.node("b", b, first, {bytes});
  made.node("c", c, second, {bytes});
  return package_of(made.graph, 3);
}

}  // namespace

TEST_CASE("mcm: an interval is the slowest chip's time") {
  // 10, 30 and 20 us, 100 B in between: 100 ns on the link and 1 ns of latency. The first input arrives at chip 1 at
  // 10.101 us; chip 1 then never waits: ten times 30 us; the last one leaves behind a credit of 8 B, and takes 20 us on
  // chip 2, whose last credit takes 9 ns to chip 0 and as long from there to chip 1.
  const Piped found = piped(three(10 * microsecond, 30 * microsecond, 20 * microsecond, 100), {0, 1, 2}, 10);
  CHECK(found.interval == 30 * microsecond);
  CHECK(found.all == 10 * microsecond + 101 * nanosecond + 300 * microsecond + 101 * nanosecond + 20 * microsecond +
                         8 * nanosecond + 18 * nanosecond);
}

TEST_CASE("mcm: an interval is what the busiest link takes where that is longer") {
  // 20,000 B take 20 us on each link, chips compute for 5. Credits of 8 B take the link from chip 1 to 2 as well: that
  // one is busy for 20.008 us of each input.
  const Piped found = piped(three(5 * microsecond, 5 * microsecond, 5 * microsecond, 20'000), {0, 1, 2}, 40);
  CHECK(found.interval == 20'008 * nanosecond);
}

TEST_CASE("mcm: with one buffer to send from a chip computes or sends") {
  // 5 us, then 20 us in which a's results leave; b has its own to send, and begins when they have left: behind 5 us and
  // 20 us, and 8 ns of credit on the link that they take.
  const Package package = three(5 * microsecond, 5 * microsecond, 5 * microsecond, 20'000);
  CHECK(piped(package, {0, 1, 2}, 40, 2, "1 ns", 1).interval == 25'008 * nanosecond);
}

TEST_CASE("mcm: two flows on one link take turns") {
  // a's 20,000 B go to b on chip 1 and to c on chip 2, both over the link behind chip 0: 40 us an input. The credits of
  // both go on round the ring, 1 to 2 to 0, and never over that link.
  GraphCase made;
  const auto a = made.node("a", 5 * microsecond, {}, {20'000});
  made.node("b", 5 * microsecond, a, {1});
  made.node("c", 5 * microsecond, a, {1});
  const Piped found = piped(package_of(made.graph, 3), {0, 1, 2}, 20);
  CHECK(found.interval == 40 * microsecond);
}

TEST_CASE("mcm: an interval is the credits' way round where that is longer") {
  // One input ahead at most, links of 10 us: 100 B to chip 1 take 10.1 us, chip 1 computes for 5, its credit goes on to
  // chip 2 and from there to chip 0, 10.008 us each. Then the next input may leave: 10.1 + 5 + 20.016 us.
  GraphCase made;
  const auto a = made.node("a", 5 * microsecond, {}, {100});
  const auto b = made.node("b", 5 * microsecond, a, {1});
  const Package two = package_of(made.graph, 3);
  CHECK(piped(two, {0, 1}, 20, 1, "10 us").interval == 35'116 * nanosecond);
  // With two under way it is half of that.
  CHECK(piped(two, {0, 1}, 20, 2, "10 us").interval == 17'558 * nanosecond);
  // And with many, the time of a chip.
  CHECK(piped(two, {0, 1}, 40, 8, "10 us").interval == 5 * microsecond);
}

TEST_CASE("mcm: pipelines end, hold what is reckoned, and have an interval that more inputs do not change") {
  int changed = 0;
  for (std::uint64_t index = 0; index < 2000; ++index) {
    CAPTURE(index);
    const std::uint64_t chips = 1 + index % 6;
    const Package package = package_of(random_graph(index, 14).graph, chips);
    Partitioner partitioner(package.reduced.problem, index % 3 == 0 ? "chain" : "complete");
    const Partition partition = partitioner.sample(Distribution::uniform(), 1, index);
    const std::int64_t depth = 1 + static_cast<std::int64_t>(index % 3);
    const std::int64_t send_buffers = 1 + static_cast<std::int64_t>(index / 6 % 2);
    const Piped once = piped(package, partition, 32, depth, "1 ns", send_buffers),
                twice = piped(package, partition, 64, depth, "1 ns", send_buffers);
    const std::vector<ChipWork> work = chip_work(package, partition, {NodeSchedule::least_memory, depth, send_buffers});
    for (std::size_t chip = 0; chip < work.size(); ++chip) REQUIRE(once.peaks[chip] == peak_bytes(work[chip]));
    CHECK(once.peaks == twice.peaks);
    CHECK(std::abs(once.interval - twice.interval) <= twice.interval / 1000);
    changed += once.interval == twice.interval ? 0 : 1;
  }
  CHECK(changed <= 20);
}

TEST_CASE("mcm: networks side by side on chips of their own do not wait for each other") {
  // 3 us on one chip, 5 us on the other, and nothing goes between them: an input of both every 5 us, eight of them in
  // 40 us, to the picosecond. On one chip it is 8 us, and 64.
  GraphCase one, other;
  one.node("a", 3 * microsecond, {}, {100});
  other.node("a", 5 * microsecond, {}, {100});
  const Package package = package_of(workload::side_by_side({{"one", one.graph}, {"other", other.graph}}), 2);
  const Piped apart = piped(package, {0, 1}, 8);
  CHECK(apart.interval == 5 * microsecond);
  CHECK(apart.all == 40 * microsecond);
  const Piped together = piped(package, {0, 0}, 8);
  CHECK(together.interval == 8 * microsecond);
  CHECK(together.all == 64 * microsecond);
}
