// Ring collectives without events for their steps, beside the same step by step.
#include <catch2/catch.hpp>

#include "random_rings.hpp"
#include "sim/rings/ring_path.hpp"
#include "traffic.hpp"

using namespace tessera;
using namespace tessera::test;

namespace {

sim::SimulationResult run_with(const ProgramCase& made, sim::Laws laws) {
  sim::SimulationOptions options;
  options.laws = laws;
  options.record_timeline = options.record_memory = true;
  return made.run(options);
}

}  // namespace

TEST_CASE("ring laws: 1,000 random programs take the same picoseconds as step by step") {
  std::uint64_t fewer = 0;
  for (std::uint64_t index = 0; index < 1000; ++index) {
    const ProgramCase made = random_rings(index);
    CAPTURE(index);
    const sim::SimulationResult laws = run_with(made, sim::Laws::all), steps = run_with(made, sim::Laws::trains);
    check_same(laws.results, steps.results);
    fewer += laws.statistics.events < steps.statistics.events ? 1 : 0;
  }
  CHECK(fewer > 400);
}

TEST_CASE("ring laws: programs take the same picoseconds packet by packet") {
  for (std::uint64_t index = 0; index < 100; ++index) {
    const ProgramCase made = random_rings(50'000 + index);
    CAPTURE(index);
    check_same(run_with(made, sim::Laws::all).results, run_with(made, sim::Laws::none).results);
  }
}

TEST_CASE("ring laws: the queue behind what the link has been given before") {
  // Packets of 100 B at 1,000 ps a byte: three of 100, 50 and 100 B are sent from 0 to 250 ns. At 120 ns, when a
  // message of 100 B comes, the short one is in service until 150 ns; the third and the new one wait.
  const machine::Network network = chain({1'000'000'000}, 500, 100);
  const sim::NetworkTables tables(network);
  sim::WayTable ways(tables);
  sim::RingPath path(ways, {0});
  path.begin({{0, 250}}, {{0, 0, {150}}});
  CHECK(path.send(120'000, path.facts().size_of(100)) == 350'000 + 500);
  const std::vector<sim::LinkCounts> counts = path.take_counts();
  CHECK(counts[0].bytes == 100);
  CHECK(counts[0].peak_queue == 200);
}

TEST_CASE("ring laws: two events a member, and the time of the recurrence") {
  // 4 devices, 400 B: 2 x 3 steps of 100 B at 1,000 ps a byte and 500 ps, the first three with 100 ps to add them.
  ProgramCase made(4);
  made.group({0, 1, 2, 3});
  for (program::DeviceId device = 0; device < 4; ++device)
    made.bind(device, {made.block().collective(collective(program::CollectiveKind::all_reduce, 400, "ring")).done()});
  const sim::SimulationResult run = run_with(made, sim::Laws::all);
  CHECK(run.results.iteration_time == 6 * (100 * byte_time + wire_latency) + 3 * 100);
  CHECK(run.statistics.events == 8);
}

TEST_CASE("ring laws: a late member catches up, its messages behind each other") {
  // Device 3 enters 10 us after the others, whose first messages have come by then. An all-gather of 300 B of 4: chunks
  // of 75 B. It posts its three messages at once, they leave at 75, 150 and 225 ns behind that, and it has ended.
  ProgramCase made(4);
  made.group({0, 1, 2, 3});
  for (program::DeviceId device = 0; device < 4; ++device) {
    program::BlockBuilder block = made.block("main " + std::to_string(device));
    if (device == 3) block.compute(work(10'000'000));
    made.bind(device, {block.collective(collective(program::CollectiveKind::all_gather, 300, "ring")).done()});
  }
  const results::RunResults results = run_with(made, sim::Laws::all).results;
  CHECK(results.device_rows[3].finished == 10'000'000);
  // Device 0 has its third message 225 ns and a latency behind the late one's entry.
  CHECK(results.device_rows[0].finished == 10'000'000 + 225 * byte_time + wire_latency);
  // Device 2 gets device 3's chunk last: it goes round by 0 and 1, 75 ns and a latency a hop.
  CHECK(results.device_rows[2].finished == 10'000'000 + 3 * (75 * byte_time + wire_latency));
}
