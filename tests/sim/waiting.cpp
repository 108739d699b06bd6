// Waiting for members that come late is no communication. 1 ns a byte, 500 ps latency, packets of 100 B; adding is
// free.
#include <catch2/catch.hpp>

#include <algorithm>

#include "gpu_shapes.hpp"
#include "program_case.hpp"
#include "tessera/machine/topology.hpp"

using namespace tessera;
using namespace tessera::test;
using program::Activity;
using program::CollectiveKind;

namespace {

/// 100 B over one link.
constexpr Time message = 100 * byte_time + wire_latency;

/// One collective of all devices, which compute beforehand for these times.
ProgramCase join_at(ProgramCase made, const std::vector<Time>& joins, const program::Collective& one) {
  std::vector<program::DeviceId> all;
  for (program::DeviceId device = 0; device < joins.size(); ++device) all.push_back(device);
  made.group(all);
  made.program.free_reductions = true;
  for (const program::DeviceId device : all) {
    made.bind(
        device,
        {made.block().compute(work(joins[device])).activity(Activity::data_communication).collective(one).done()});
  }
  return made;
}

results::RunResults run_joined_at(const std::vector<Time>& joins, const program::Collective& one) {
  return join_at(ProgramCase(static_cast<machine::NodeId>(joins.size())), joins, one).run().results;
}

Time waiting(const results::RunResults& results, program::DeviceId device) {
  return time_of(results.device_rows[device], Activity::waiting);
}
Time communication(const results::RunResults& results, program::DeviceId device) {
  return time_of(results.device_rows[device], Activity::data_communication);
}

/// Two nodes of four GPUs: each is linked to each other one.
ProgramCase two_nodes() {
  ProgramCase made(8);
  for (machine::NodeId i = 0; i < 8; ++i)
    made.machine.places[i] = {static_cast<int>(i / 4), static_cast<int>(i % 4), 0};
  made.machine.devices_per_node = 4;
  return made;
}

/// Eight behind one switch.
ProgramCase one_node() {
  machine::Machine made;
  machine::build_cluster(test::small_cluster(1, 8), made);
  ProgramCase program(test::machine_of(made.network));
  program.machine.network.packet = Bytes{test::packet_bytes};
  return program;
}

/// A wafer of two rows of four dies.
ProgramCase wafer() {
  const std::string text =
      "name = \"wafer\"\npacket = \"100 B\"\n[device]\nname = \"die\"\npeak.fp16 = \"1 TFLOP/s\"\n"
      "memory_bandwidth = \"1 TB/s\"\nmemory_capacity = \"1 GB\"\ncores = 1\n[topology]\nkind = \"mesh\"\ncolumns = 4\n"
      "rows = 2\nbandwidth = \"1 GB/s\"\nlatency = \"1 ns\"\n";
  config::Diagnostics diagnostics;
  auto machine = machine::build_machine(*config::parse_toml(text, "wafer", diagnostics), diagnostics);
  diagnostics.throw_if_errors();
  return ProgramCase(std::move(machine));
}

}  // namespace

TEST_CASE("ring of four, one late by a microsecond: the others wait just as long, and communicate as on any day") {
  const Time late = microsecond;
  const auto results = run_joined_at({0, 0, late, 0}, collective(CollectiveKind::all_reduce, 400, "ring"));
  // Nothing can be summed up without member 2, so all wait until it joins, and it does not wait itself. From then on
  // its chunk takes the closed form: three hops while it is summed and three while it is spread, up to member 0.
  // Chunks that lay ready for member 2 go on at once, so that member 3, behind it, is done a little earlier.
  for (const program::DeviceId device : {0U, 1U, 3U}) CHECK(waiting(results, device) == late);
  CHECK(waiting(results, 2) == 0);
  CHECK(results.iteration_time == late + 6 * message);
  CHECK(communication(results, 0) == 6 * message);
  for (const program::DeviceId device : {1U, 2U, 3U}) {
    CHECK(communication(results, device) <= 6 * message);
    CHECK(communication(results, device) > 5 * message);
  }
  REQUIRE(results.collective_rows.size() == 1);
  CHECK(results.collective_rows[0].waiting == 3 * late);
  CHECK(results.collective_rows[0].longest == late + 6 * message);
  CHECK(results.collective_rows[0].longest_communication == 6 * message);
}

TEST_CASE("broadcast: who waits for the root, and who for those on the way") {
  const auto broadcast = collective(CollectiveKind::broadcast, 100, "binomial-tree");
  // The root sends to member 2, then to 1; member 2 passes it on to 3.
  const auto late_root = run_joined_at({1'000'000, 0, 0, 0}, broadcast);
  for (const program::DeviceId device : {1U, 2U, 3U}) CHECK(waiting(late_root, device) == 1'000'000);
  CHECK(communication(late_root, 2) == message + 100 * byte_time);  // until it has left again
  CHECK(communication(late_root, 3) == 2 * message);
  // Member 1 comes last and finds it there; nobody needs anything of it.
  const auto late_leaf = run_joined_at({0, 1'000'000, 0, 0}, broadcast);
  for (const program::DeviceId device : {0U, 1U, 2U, 3U}) CHECK(waiting(late_leaf, device) == 0);
  CHECK(communication(late_leaf, 1) == 0);
  CHECK(communication(late_leaf, 3) == 2 * message);
  // Member 3 waits for member 2, member 1 does not.
  const auto late_between = run_joined_at({0, 0, 1'000'000, 0}, broadcast);
  CHECK(waiting(late_between, 1) == 0);
  CHECK(waiting(late_between, 3) == 1'000'000);
  CHECK(communication(late_between, 3) == message);
}

TEST_CASE("one GPU at half speed: the others wait for it, and their communication is the closed form") {
  std::vector<Time> joins(4, 1'000'000);
  ProgramCase made = join_at(ProgramCase(4), joins, collective(CollectiveKind::all_reduce, 400, "direct"));
  made.machine.speed[1] = 0.5;
  const auto results = made.run().results;
  for (const program::DeviceId device : {0U, 2U, 3U}) {
    CHECK(waiting(results, device) == 1'000'000);
    CHECK(communication(results, device) == 2 * message);
  }
  CHECK(waiting(results, 1) == 0);
}

TEST_CASE(
    "every collective: who needs the data of all waits until the latest has joined, not longer, and no other time "
    "changes") {
  const std::vector<Time> joins{3'000, 1'700'000, 40'000, 40'001, 950'000, 1, 1'700'001, 222'222};
  const Time latest = *std::max_element(joins.begin(), joins.end());
  std::size_t checked = 0;
  for (const auto& algorithm : program::built_in_collectives().all()) {
    for (const auto kind : {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter, CollectiveKind::all_gather,
                            CollectiveKind::all_to_all, CollectiveKind::broadcast}) {
      if (!algorithm->supports(kind)) continue;
      const bool needs_odd = algorithm->name() == "ring-bi-odd";
      const bool on_wafer =
          needs_odd || algorithm->name() == "torus" || algorithm->name().find("mesh") != std::string::npos;
      const std::vector<Time> joined(joins.begin(), joins.end() - (needs_odd ? 1 : 0));
      CAPTURE(algorithm->name(), name_of(kind));
      auto one = collective(kind, 8 * 90, algorithm->name());
      one.root = 3;
      const bool in_switch = algorithm->name() == "in-switch";
      const auto results =
          join_at(on_wafer ? wafer() : (in_switch ? one_node() : two_nodes()), joined, one).run().results;
      Time all_waiting = 0, longest = 0;
      for (program::DeviceId device = 0; device < joined.size(); ++device) {
        const results::DeviceRow& row = results.device_rows[device];
        CAPTURE(device);
        CHECK(joins[device] + waiting(results, device) + communication(results, device) == row.finished);
        if (kind == CollectiveKind::broadcast) {
          CHECK(waiting(results, device) <= latest - joins[device]);
          CHECK(waiting(results, device) >= std::min(std::max<Time>(0, joins[3] - joins[device]), row.finished));
        } else {
          CHECK(waiting(results, device) == latest - joins[device]);
        }
        all_waiting += waiting(results, device);
        longest = std::max(longest, communication(results, device));
      }
      CHECK(results.collective_rows[0].waiting == all_waiting);
      CHECK(results.collective_rows[0].longest_communication == longest);
      ++checked;
    }
  }
  CHECK(checked >= 20);
}

TEST_CASE("a stream that waits for a signal waits for other devices while the stream that signals does") {
  // Device 1 joins at 1,000,000. On device 0 the main stream computes until 300,000, then waits for the all-reduce that
  // the other stream has been in since 100.
  ProgramCase made(2);
  made.group({0, 1});
  made.program.free_reductions = true;
  const auto sum = collective(CollectiveKind::all_reduce, 200, "ring");
  for (const program::DeviceId device : {0U, 1U}) {
    const auto main = made.block()
                          .compute(work(device == 0 ? 100 : 1'000'000))
                          .signal(0)
                          .compute(work(device == 0 ? 299'900 : 0))
                          .activity(Activity::data_communication)
                          .wait(1)
                          .activity(Activity::optimizer)
                          .compute(work(7))
                          .done();
    made.bind(device, {main, made.block("beside").wait(0).collective(sum).signal(1).done()}, 2);
  }
  sim::SimulationOptions options;
  for (const bool timeline : {false, true}) {
    options.record_timeline = timeline;
    const auto results = made.run(options).results;
    CHECK(waiting(results, 0) == 700'000);
    // Device 0 gets its second message, which device 1 posts at 1,000,000 + its wait for the first, 100 B later.
    const Time communicates = results.device_rows[0].finished - 7 - 1'000'000;
    CHECK(communication(results, 0) == communicates);
    CHECK(waiting(results, 1) == 0);
    if (!timeline) continue;
    std::vector<results::Interval> main;
    for (const results::Interval& interval : results.intervals.rows()) {
      if (interval.device == 0 && interval.stream == 0) main.push_back(interval);
    }
    REQUIRE(main.size() == 5);
    CHECK(main[2].activity == static_cast<std::uint16_t>(Activity::waiting));
    CHECK(main[2].begin == 300'000);
    CHECK(main[2].end == 1'000'000);
    CHECK(main[3].activity == static_cast<std::uint16_t>(Activity::data_communication));
    CHECK(main[3].begin == 1'000'000);
    CHECK(main[3].end == 1'000'000 + communicates);
    // The other one has done nothing until it was told to begin, and is in its collective from then on.
    std::vector<results::Interval> beside;
    for (const results::Interval& interval : results.intervals.rows())
      if (interval.device == 0 && interval.stream == 1) beside.push_back(interval);
    REQUIRE(beside.size() == 2);
    CHECK(beside[0].activity == static_cast<std::uint16_t>(Activity::waiting));
    CHECK(beside[0].begin == 100);
    CHECK(beside[1].end == 1'000'000 + communicates);
    CHECK(beside[1].bytes == 200);
    CHECK(beside[1].group == 0);
  }
}

TEST_CASE("waiting comes through a chain of streams, and a bubble beside is one here") {
  // Stream 2 of device 0 gets a message that device 1 posts at 500,000; stream 1 waits for stream 2, the main one for
  // stream 1.
  ProgramCase made(2);
  const auto main = made.block().activity(Activity::pipeline_communication).wait(1).done();
  const auto middle =
      made.block("middle").activity(Activity::other_communication).wait(0).compute(work(50)).signal(1).done();
  const auto last = made.block("last").activity(Activity::redistribution).receive(1, Bytes{100}).signal(0).done();
  made.bind(0, {main, middle, last}, 2);
  made.bind(1, {made.block("sender").compute(work(500'000)).send(0, Bytes{100}).done()});
  const auto results = made.run().results;
  CHECK(time_of(results.device_rows[0], Activity::bubble) == 500'000);
  CHECK(time_of(results.device_rows[0], Activity::pipeline_communication) == message + 50);
  CHECK(results.iteration_time == 500'000 + message + 50);
}

TEST_CASE("kernels at transaction level: GPUs that join early wait for the late one") {
  const Time late = millisecond;
  const auto times = [&](const program::Kernel& kernel, Time joins_late) {
    machine::NetworkBuilder builder(3);
    const std::uint16_t type = builder.link_class("wire");
    for (machine::NodeId i = 0; i < 3; ++i)
      builder.add_link(i, (i + 1) % 3, BytesPerSecond{75'000'000'000}, Duration{500 * nanosecond}, type);
    ProgramCase made(machine_of(finish_network(builder, 64 << 10)));
    made.machine.device.transaction = gpu();
    made.group({0, 1, 2});
    for (machine::NodeId i = 0; i < 3; ++i) {
      made.bind(i, {made.block()
                        .compute(work(i == 1 ? joins_late : 0))
                        .activity(Activity::tensor_communication)
                        .label("kernel")
                        .kernel(kernel)
                        .done()});
    }
    return made.run().results;
  };
  program::Kernel scatter;
  scatter.work = program::CopyKernel{3 << 20, program::CopyKind::reduce_scatter};
  const auto together = times(scatter, 0), apart = times(scatter, late);
  for (const program::DeviceId device : {0U, 1U, 2U}) {
    CAPTURE(device);
    CHECK(waiting(together, device) == 0);
    CHECK(waiting(apart, device) == (device == 1 ? 0 : late));
    const Time alone = time_of(together.device_rows[device], Activity::tensor_communication);
    const Time behind = time_of(apart.device_rows[device], Activity::tensor_communication);
    CHECK(behind <= alone);
    CHECK(behind > 0);
  }
  CHECK(apart.collective_rows.at(0).waiting == 2 * late);
  // The GEMM itself is no waiting: only what is left of the wait when the work-groups have ended.
  const auto fused = times(test::kernel(gemm(3 * 128, 256, 32), "ring-reduce-scatter"), late);
  const Time computes = fused.kernel_rows.at(0).computed;
  CHECK(computes > 0);
  CHECK(waiting(fused, 0) == late - computes);
  CHECK(waiting(fused, 1) == 0);
}
