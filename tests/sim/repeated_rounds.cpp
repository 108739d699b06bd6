// Rounds of loops that are as the ones before are left out, beside the same simulated round by round.
#include <catch2/catch.hpp>

#include <map>

#include "random_islands.hpp"
#include "random_replicas.hpp"
#include "random_rings.hpp"
#include "random_ways.hpp"
#include "support/random_cases.hpp"
#include "tessera/base/random.hpp"

using namespace tessera;
using namespace tessera::test;
using program::CollectiveKind;
using program::MemoryCategory;

namespace {

sim::SimulationResult run_with(const ProgramCase& made, sim::Laws laws, bool records = false) {
  sim::SimulationOptions options;
  options.laws = laws;
  options.record_timeline = records;
  options.allow_oversubscription = true;
  return made.run(options);
}

/// A group of all devices that do anything, but for hosts.
program::GroupId group_of_all(ProgramCase& made) {
  std::vector<program::DeviceId> all;
  for (program::DeviceId device = 0; device < made.machine.accelerators(); ++device)
    if (!made.program.devices[device].streams.empty()) all.push_back(device);
  made.group(all);
  return static_cast<program::GroupId>(made.program.groups.size() - 1);
}

/// What a random program does, over and over: `outer` times `inner` rounds, some of which hold on to memory. Mostly all
/// wait for each other after a round; the second stream begins a round when the main one does, and in half of these
/// programs the main one waits for it at the end.
ProgramCase in_loops(ProgramCase made, std::uint64_t index) {
  const KeyedRandom random(index, random_stream("loops"));
  const auto inner = static_cast<std::uint32_t>(2 + random.below(0, 12));
  const auto outer = static_cast<std::uint32_t>(1 + random.below(1, 5));
  const auto memory = random.below(2, 3);
  const bool keeps_together = random.below(3, 4) > 0, waits_beside = random.below(5, 2) > 0;
  const auto passes = random.below(6, 4);  // of micro-batches, each a round, or a round and an outer one
  const program::GroupId all = group_of_all(made);
  for (program::DeviceId id = 0; id < made.program.devices.size(); ++id) {
    program::DeviceProgram& device = made.program.devices[id];
    if (device.streams.empty()) continue;
    const bool computes = made.machine.computes(id);
    device.groups.push_back(computes ? all : program::no_group);
    const auto slot = static_cast<std::uint32_t>(device.groups.size() - 1), first = device.events;
    const bool tells = keeps_together && device.streams.size() > 1;
    device.events += tells ? 2 : 0;
    for (std::size_t stream = 0; stream < device.streams.size(); ++stream) {
      const program::BlockId entry = device.streams[stream];
      program::BlockBuilder round = made.block("round"), loop = made.block("loop"), main = made.block("main");
      const bool holds = memory > 0 && stream == 0;
      const Bytes bytes{100 + static_cast<std::int64_t>(random.below(4, 50))}, kept{memory > 1 ? 60 : 0};
      if (tells && stream == 0) round.signal(first);
      if (tells && stream == 1) round.wait(first);
      if (holds) round.allocate(MemoryCategory::activations, bytes);
      round.call(entry, 1, passes > 1 ? 1 : 0);
      if (tells && waits_beside && stream == 0) round.wait(first + 1);
      if (tells && waits_beside && stream == 1) round.signal(first + 1);
      if (holds) round.release(MemoryCategory::activations, bytes).allocate(MemoryCategory::buffers, kept);
      if (keeps_together && stream == 0 && computes)
        round.collective(collective(CollectiveKind::all_reduce, 100, "ring", slot)).compute(work(1'000'000'000));
      loop.call(round.done(), inner, passes == 1 ? 2 : 0);
      if (holds && kept.value() > 0) loop.release(MemoryCategory::buffers, Bytes{kept.value() * inner});
      device.streams[stream] = main.call(loop.done(), outer, passes == 3 ? 2 : 0).call(entry).done();
    }
  }
  return made;
}

/// What computes stands in line, and is written down later.
ProgramCase in_line(ProgramCase made) {
  made.machine.device.cores = 8;
  made.program.channels = 2;
  return made;
}

/// How often rounds are left out, with and without rings as laws; with a timeline.
std::uint64_t skips_of(const ProgramCase& made) {
  const sim::SimulationResult round_by_round = run_with(made, sim::Laws::trains, true);
  CHECK(round_by_round.statistics.skips == 0);
  std::uint64_t skips = 0;
  for (const sim::Laws laws : {sim::Laws::all, sim::Laws::trains.with(sim::Law::rounds)}) {
    const sim::SimulationResult periods = run_with(made, laws, true);
    check_same(periods.results, round_by_round.results);
    skips += periods.statistics.skips;
  }
  return skips;
}

}  // namespace

TEST_CASE("periods: 200 random loops take the same picoseconds as round by round, interval by interval") {
  std::uint64_t skips = 0;
  for (std::uint64_t index = 0; index < random_cases(200); ++index) {
    ProgramCase made = in_loops(random_rings(200'000 + index), index);
    CAPTURE(index);
    skips += skips_of(index % 3 == 0 ? in_line(std::move(made)) : made);
  }
  CHECK(skips >= random_cases(20));
}

TEST_CASE("periods: random loops on sites of every kind do as well") {
  std::uint64_t skips = 0;
  for (std::uint64_t index = 0; index < random_cases(40); ++index) {
    for (const SiteKind kind : site_kinds) {
      CAPTURE(index, static_cast<int>(kind));
      skips += skips_of(in_loops(random_replicas_on(kind, 500'000 + index), index));
    }
  }
  CHECK(skips >= random_cases(16));
}

TEST_CASE("periods: parts that go round loops of their own, and meet, do as well") {
  std::uint64_t skips = 0;
  for (std::uint64_t index = 0; index < random_cases(60); ++index) {
    CAPTURE(index);
    skips += skips_of(random_islands(index));
    for (const SiteKind kind : site_kinds) skips += skips_of(random_islands_on(kind, index));
  }
  CHECK(skips >= random_cases(60));
}

TEST_CASE("periods: where ways are bound, loops do as well") {
  std::uint64_t skips = 0;
  for (std::uint64_t index = 0; index < random_cases(100); ++index) {
    CAPTURE(index);
    skips += skips_of(with_random_ways(index, in_loops(random_rings(630'000 + index), index)));
    skips += skips_of(with_random_ways(index, random_islands_on(site_kinds[index % site_kinds.size()], index)));
  }
  CHECK(skips >= random_cases(20));
}

TEST_CASE("periods: two parts with rounds of their own are moved apart, and one is brought back where they meet") {
  // Two rings of two devices go round 1,000 rounds of 5 us and 7 us and an all-reduce of 200 B each, which takes two
  // steps of 100 B and the addition of 100 B in between. Then the faster ones send to the slower ones 2 B, which wait
  // for that from the end of their rounds on: it has come long ago. In turn device 3 sends 2 B to device 0 in the midst
  // of all rounds of that one, at the end of its own 100 rounds, in the other program.
  const auto parts = [](std::uint32_t fast, std::uint32_t slow, bool fast_sends, sim::Laws laws) {
    ProgramCase made(4);
    made.group({0, 1});
    made.group({2, 3});
    for (program::DeviceId device = 0; device < 4; ++device) {
      const bool is_fast = device < 2;
      const auto round = made.block("round")
                             .compute(work(is_fast ? 5'000'000 : 7'000'000))
                             .collective(collective(CollectiveKind::all_reduce, 200, "ring", is_fast ? 0 : 1))
                             .done();
      program::BlockBuilder main = made.block();
      main.call(round, is_fast ? fast : slow);
      const program::DeviceId from = fast_sends ? 0 : 3, to = fast_sends ? 3 : 0;
      if (device == from) main.send(to, Bytes{2});
      if (device == to) main.receive(from, Bytes{2});
      made.bind(device, {main.done()});
    }
    return run_with(made, laws);
  };
  constexpr Time reduce = 2 * (100 * byte_time + wire_latency) + 100;
  for (const bool fast_sends : {true, false}) {
    CAPTURE(fast_sends);
    const std::uint32_t slow = fast_sends ? 1'000 : 100;
    const sim::SimulationResult moved = parts(1'000, slow, fast_sends, sim::Laws::all);
    CHECK(moved.statistics.skips >= 2);
    CHECK(moved.statistics.events < 1'200);
    CHECK(moved.results.iteration_time == (fast_sends ? 1'000 * (7'000'000 + reduce) : 1'000 * (5'000'000 + reduce)));
    check_same(moved.results, parts(1'000, slow, fast_sends, sim::Laws::trains).results);
  }
}

TEST_CASE("periods: loops in which busy times and queues were once told twice") {
  // In each, something was on its way when a round was left out: the end of what a link was busy with before a ring, or
  // where packets end that are still in its queue.
  for (const std::uint64_t index : {1038, 1438, 2050, 2127}) {
    CAPTURE(index);
    CHECK(skips_of(in_loops(random_rings(index), index)) > 0);
  }
}

TEST_CASE("periods: loops in which the micro-batches of what stood in line were once those of the round before") {
  for (const std::uint64_t index : {693, 1842}) {
    CAPTURE(index);
    CHECK(skips_of(in_line(in_loops(random_rings(200'000 + index), index))) > 0);
  }
  for (const std::uint64_t index : {331, 581, 902, 936, 969}) {
    CAPTURE(index);
    CHECK(skips_of(with_random_ways(index, in_loops(random_rings(630'000 + index), index))) > 0);
  }
}

TEST_CASE("periods: rounds are left out while messages are on their way") {
  // In each round device 0 works for 3 us and sends 1 kB, which is on its way for 500 us: 166 of them are whenever
  // anything happens. The last one comes 3 us x rounds + 1 kB at the link's speed + the latency from the beginning, and
  // device 1 works for 1 us then.
  const auto rounds = [](std::uint32_t times) {
    ProgramCase made(2);
    made.machine.network.links[0].latency = Duration{500'000'000};
    const auto sends = made.block("round").compute(work(3'000'000)).send(1, Bytes{1000}).done();
    const auto takes = made.block("round").receive(0, Bytes{1000}).compute(work(1'000'000)).done();
    made.bind(0, {made.block().call(sends, times).done()});
    made.bind(1, {made.block().call(takes, times).done()});
    return run_with(made, sim::Laws::all);
  };
  const sim::SimulationResult few = rounds(4'000), many = rounds(40'000);
  CHECK(many.statistics.skips > 0);
  CHECK(many.statistics.events < few.statistics.events + few.statistics.events / 5);
  CHECK(many.results.iteration_time == 40'000 * Time{3'000'000} + 1000 * byte_time + 500'000'000 + 1'000'000);
}

TEST_CASE("periods: 200 random loops with streams that wait for each other have timelines that add up") {
  for (std::uint64_t index = 0; index < random_cases(200); ++index) {
    const ProgramCase made = in_loops(random_rings(300'000 + index), index);
    CAPTURE(index);
    sim::SimulationOptions options;
    options.allow_oversubscription = true;
    const auto plain = made.run(options).results;
    options.record_timeline = true;
    const auto drawn = made.run(options).results;
    CHECK(drawn.device_rows == plain.device_rows);
    std::vector<std::vector<Time>> sums(made.machine.devices(), std::vector<Time>(program::activity_count));
    std::map<std::pair<std::uint32_t, std::uint16_t>, Time> ends;
    for (const results::Interval& one : drawn.intervals.rows()) {
      if (one.stream == 0) sums[one.device][one.activity] += one.end - one.begin;
      CHECK(one.begin >= ends[std::pair(one.device, one.stream)]);
      ends[std::pair(one.device, one.stream)] = one.end;
      CHECK((one.end > one.begin || one.end_of_message != results::MessageEnd::none));
    }
    // The main stream's intervals are its accounts, but for what comes behind its last instruction.
    for (const results::DeviceRow& row : plain.device_rows) {
      sums[row.device][static_cast<std::size_t>(program::Activity::idle)] = time_of(row, program::Activity::idle);
      CHECK(sums[row.device] == row.activity);
    }
  }
}

TEST_CASE("periods: rounds in which the main stream waits for one beside it are as many events as a few") {
  // In each round of a device the main stream tells the other one to begin and waits for it at once. On device 1 that
  // one computes for 3 us first, so that the other one of device 0 waits in their all-reduce of 200 B, while the main
  // stream waits for it: both steps begin with device 1, one behind the other on its link.
  const auto rounds = [](std::uint32_t times, sim::Laws laws = sim::Laws::all) {
    ProgramCase made(2);
    made.group({0, 1});
    for (program::DeviceId device = 0; device < 2; ++device) {
      const auto main = made.block("round").signal(0).wait(1).done();
      const auto beside = made.block("round beside")
                              .wait(0)
                              .compute(work(device == 0 ? 1 : 3'000'000))
                              .activity(program::Activity::data_communication)
                              .collective(collective(CollectiveKind::all_reduce, 200, "ring"))
                              .signal(1)
                              .done();
      made.bind(device, {made.block().call(main, times).done(), made.block().call(beside, times).done()}, 2);
    }
    return run_with(made, laws);
  };
  const sim::SimulationResult few = rounds(64), many = rounds(512);
  CHECK(few.statistics.events == many.statistics.events);
  CHECK(few.statistics.skips > 0);
  check_same(many.results, rounds(512, sim::Laws::trains).results);
  // Device 1 adds 100 B between its two messages: nobody waits for that, since the first one is still leaving.
  constexpr Time round = 3'000'000 + 2 * (100 * byte_time + wire_latency) + 100;
  CHECK(many.results.iteration_time == 512 * round);
  CHECK(time_of(many.results.device_rows[1], program::Activity::waiting) == 0);
  CHECK(time_of(many.results.device_rows[0], program::Activity::waiting) > 511 * Time{2'999'000});
}

TEST_CASE("periods: a thousand rounds are as many events as a few") {
  // Each round: 5 us of work, then an all-reduce of 400 B as in "ring laws".
  const auto rounds = [](std::uint32_t times) {
    ProgramCase made(4);
    made.group({0, 1, 2, 3});
    for (program::DeviceId device = 0; device < 4; ++device) {
      const auto round = made.block("round")
                             .compute(work(5'000'000))
                             .collective(collective(CollectiveKind::all_reduce, 400, "ring"))
                             .done();
      made.bind(device, {made.block().call(round, times).done()});
    }
    return run_with(made, sim::Laws::all);
  };
  constexpr Time round = 5'000'000 + 6 * (100 * byte_time + wire_latency) + 3 * 100;
  CHECK(rounds(10).statistics.events == rounds(1'000'000).statistics.events);
  CHECK(rounds(1'000'000).results.iteration_time == 1'000'000 * round);
  CHECK(rounds(1'000'000).results.collective_rows[0].calls == 4'000'000);
}

TEST_CASE("periods: memory that grows from round to round has its peak in the last one") {
  // 100 rounds of 1 us that hold 10 B more each, and 5 B for half of it; then all is given back, round by round.
  ProgramCase made(2);
  for (program::DeviceId device = 0; device < 2; ++device) {
    const auto forward = made.block("forward")
                             .allocate(MemoryCategory::activations, Bytes{10})
                             .send(1 - device, Bytes{1})
                             .receive(1 - device, Bytes{1})
                             .allocate(MemoryCategory::buffers, Bytes{5})
                             .compute(work(1'000'000))
                             .release(MemoryCategory::buffers, Bytes{5})
                             .done();
    const auto backward = made.block("backward")
                              .send(1 - device, Bytes{1})
                              .receive(1 - device, Bytes{1})
                              .compute(work(1'000'000))
                              .release(MemoryCategory::activations, Bytes{10})
                              .done();
    made.bind(device, {made.block().call(forward, 100).call(backward, 100).done()});
  }
  const sim::SimulationResult run = run_with(made, sim::Laws::all);
  constexpr Time exchange = byte_time + wire_latency;
  CHECK(run.statistics.skips == 2);
  CHECK(run.results.iteration_time == 200 * (exchange + 1'000'000));
  const results::DeviceRow& row = run.results.device_rows[0];
  CHECK(row.peak_memory == 1005);
  CHECK(row.peak_memory_time == 99 * (exchange + 1'000'000) + exchange);
  CHECK(row.messages == 200);
}

TEST_CASE("periods: nothing is left out where memory is recorded over time") {
  ProgramCase made(2);
  for (program::DeviceId device = 0; device < 2; ++device) {
    program::BlockBuilder round = made.block("round");
    round.send(1 - device, Bytes{1}).receive(1 - device, Bytes{1}).compute(work(1'000'000));
    made.bind(device, {made.block().call(round.done(), 50).done()});
  }
  sim::SimulationOptions options;
  options.record_memory = true;
  CHECK(made.run(options).statistics.skips == 0);
  options.record_memory = false;
  CHECK(made.run(options).statistics.skips > 0);
}

TEST_CASE("periods: what repeats itself after 37 rounds is left out") {
  // Each round of the main stream sets off the next of 37 operators beside it, each longer than the one before, and
  // waits for it: no round is as one of the 36 before.
  ProgramCase made(1);
  program::BlockBuilder all = made.block("37 rounds beside");
  for (Time i = 1; i <= 37; ++i) all.wait(0).compute(work(1000 * i)).signal(1);
  const program::BlockId round = made.block("round").signal(0).wait(1).compute(work(50'000)).done();
  made.bind(0, {made.block().call(round, 37 * 100).done(), made.block().call(all.done(), 100).done()}, 2);
  const sim::SimulationResult is = run_with(made, sim::Laws::all);
  const sim::SimulationResult round_by_round = run_with(made, sim::Laws::trains);
  CHECK(is.statistics.skips > 0);
  CHECK(is.results.iteration_time == 100 * (37 * 50'000 + 1000 * (37 * 38 / 2)));
  CHECK(10 * is.statistics.events < round_by_round.statistics.events);
  check_same(is.results, round_by_round.results);
}
