// Timelines of rounds that are left out.
#include <catch2/catch.hpp>

#include "program_case.hpp"
#include "tessera/program/stage_passes.hpp"

using namespace tessera;
using namespace tessera::test;
using results::Interval;
using results::MessageEnd;

namespace {

/// Two devices that send 1 B to each other and compute for 1 us, so many times: micro-batch by micro-batch, or some in
/// each of several rounds of an outer loop.
sim::SimulationResult exchanges(std::uint32_t rounds, std::uint32_t outer = 0) {
  ProgramCase made(2);
  for (program::DeviceId device = 0; device < 2; ++device) {
    program::BlockBuilder round = made.block("round"), group = made.block("group");
    round.send(1 - device, Bytes{1}).receive(1 - device, Bytes{1}).compute(work(1'000'000));
    const program::BlockId one = round.done();
    const program::BlockId some = outer == 0 ? one : group.call(one, rounds, program::forward_pass(0)).done();
    made.bind(device,
              {made.block().call(some, outer == 0 ? rounds : outer, outer == 0 ? program::forward_pass(0) : 0).done()});
  }
  sim::SimulationOptions options;
  options.record_timeline = true;
  return made.run(options);
}

/// Round k begins when k rounds are over. Its message is posted at once and comes 1 B and a wire later, when the own
/// one of the other device does; then it computes. All three intervals have its number.
void check_round(const Interval* rows, std::int32_t k) {
  constexpr Time exchange = byte_time + wire_latency, round = exchange + 1'000'000;
  const Interval &sent = rows[0], &taken = rows[1], &computed = rows[2];
  CAPTURE(k);
  CHECK(sent.end_of_message == MessageEnd::sent);
  CHECK(sent.message == k);
  CHECK(sent.begin == k * round);
  CHECK(sent.end == k * round);
  CHECK(taken.end_of_message == MessageEnd::taken);
  CHECK(taken.message == k);
  CHECK(taken.begin == k * round);
  CHECK(taken.end == k * round + exchange);
  CHECK(computed.message == -1);
  CHECK(computed.begin == k * round + exchange);
  CHECK(computed.end == (k + 1) * round);
  for (const Interval* row : {&sent, &taken, &computed}) CHECK(row->micro_batch == k);
}

}  // namespace

TEST_CASE("recorded rounds: those that are left out are in the timeline, with the numbers of theirs") {
  const sim::SimulationResult run = exchanges(50);
  CHECK(run.statistics.skips > 0);
  const std::vector<Interval> rows = run.results.intervals.rows();
  REQUIRE(rows.size() == 2 * 50 * 3);
  for (std::int32_t k = 0; k < 50; ++k) {
    check_round(&rows[static_cast<std::size_t>(3 * k)], k);
    check_round(&rows[static_cast<std::size_t>(150 + 3 * k)], k);
  }
}

TEST_CASE("recorded rounds: rounds of a loop whose own rounds are left out go on counting") {
  // 20 times 30 micro-batches: those of the second 30 have the numbers 30 to 59.
  const sim::SimulationResult run = exchanges(30, 20);
  const std::vector<Interval> rows = run.results.intervals.rows();
  CHECK(run.statistics.skips > 1);
  REQUIRE(rows.size() == 2 * 600 * 3);
  for (std::int32_t k = 0; k < 600; ++k) check_round(&rows[static_cast<std::size_t>(3 * k)], k);
}

TEST_CASE("recorded rounds: a million of them are kept as a few") {
  const sim::SimulationResult few = exchanges(100), many = exchanges(1'000'000);
  CHECK(few.statistics.events == many.statistics.events);
  const results::DeviceIntervals& device = many.results.intervals.devices()[0];
  CHECK(device.size() == 3'000'000);
  REQUIRE(device.streams().size() == 1);
  REQUIRE(device.streams()[0].kept().size() == 1);
  CHECK(device.streams()[0].kept()[0].size() < 30);
  std::vector<Interval> rows(3);
  device.copy(3 * 765'432, 3, rows.data());
  check_round(rows.data(), 765'432);
}

TEST_CASE("recorded rounds: a pass that is part of itself is simulated round by round") {
  ProgramCase made(2);
  for (program::DeviceId device = 0; device < 2; ++device) {
    program::BlockBuilder round = made.block("round"), outer = made.block("outer");
    round.send(1 - device, Bytes{1}).receive(1 - device, Bytes{1}).compute(work(1'000'000));
    outer.call(round.done(), 3, program::forward_pass(0));
    made.bind(device, {made.block().call(outer.done(), 20, program::forward_pass(0)).done()});
  }
  sim::SimulationOptions options;
  CHECK(made.run(options).statistics.skips > 0);
  options.record_timeline = true;
  CHECK(made.run(options).statistics.skips == 0);
}

TEST_CASE("recorded rounds: what stands in line is of the micro-batch in which it was put there") {
  // Two devices with an outer loop of 3 micro-batches, each 40 rounds in which they send 1 B to each other and compute
  // for 1 us. Since collectives may take cores, which one beside does, what computes stands in line: the next round,
  // and so the next micro-batch, begins while the last one's work is under way.
  ProgramCase made(2);
  made.machine.device.cores = 8;
  made.program.channels = 2;
  made.group({0, 1});
  for (program::DeviceId device = 0; device < 2; ++device) {
    program::BlockBuilder round = made.block("round"), outer = made.block("outer");
    round.send(1 - device, Bytes{1}).receive(1 - device, Bytes{1}).compute(work(1'000'000));
    outer.call(round.done(), 40);
    const auto all_reduce = collective(program::CollectiveKind::all_reduce, 2, "ring");
    const program::BlockId beside = made.block("beside").collective(all_reduce).done();
    made.bind(device, {made.block().call(outer.done(), 3, program::forward_pass(0)).done(), beside});
  }
  sim::SimulationOptions options;
  options.record_timeline = true;
  const sim::SimulationResult run = made.run(options);
  CHECK(run.statistics.skips > 0);
  std::vector<std::int32_t> batches;
  for (const Interval& row : run.results.intervals.rows())
    if (row.device == 0 && row.stream == 0 && row.message < 0) batches.push_back(row.micro_batch);
  REQUIRE(batches.size() == 3 * 40);
  for (std::size_t k = 0; k < batches.size(); ++k) CHECK(batches[k] == static_cast<std::int32_t>(k / 40));
}
