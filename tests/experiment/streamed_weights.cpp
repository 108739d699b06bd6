// Weights that are streamed layer by layer, from the devices or from hosts: which of that an iteration waits for.
#include <catch2/catch.hpp>

#include "ring_of_replicas.hpp"

namespace tessera::strategy {
namespace {

Time streamed(TestJob job, const std::string& keys) {
  Plan plan = job.plan(keys);
  REQUIRE(job.diagnostics.errors() == std::vector<std::string>{});
  REQUIRE(program::check_program(plan.program, job.machine) == std::vector<std::string>{});
  plan.program.free_reductions = true;
  const Time time = result_of(job, plan, sim::Laws::all).results.iteration_time;
  CHECK(result_of(job, plan, sim::Laws::none).results.iteration_time == time);
  return time;
}

const std::string from_devices = "weight_streaming = \"devices\"\n", from_hosts = "weight_streaming = \"hosts\"\n";

/// A link of 1 GB/s and 1 us to each device.
const std::string host =
    "[[host]]\nname = \"host\"\nmemory_capacity = \"1 GB\"\nmemory_bandwidth = \"1 TB/s\"\n"
    "bandwidth = \"1 GB/s\"\nlatency = \"1 us\"\n";

/// A device asks in 8 B, and a quarter of the unit comes.
constexpr Time from_host(std::int64_t bytes) { return us + 8000 + us + bytes / 4 * 1000; }
constexpr Time hE = from_host(2 * 139'264);
/// A quarter of the embedding's gradients, 4 B each, and 8 B to say that they have come.
constexpr Time oE = us + 139'264'000 + us + 8000;

}  // namespace

TEST_CASE("streamed weights: with free computing each unit is gathered twice an iteration, the head once") {
  const Time collectives = 2 * (gE + 2 * g) + gH + rE + 2 * r + rH;
  for (const std::string ahead : {"0", "1", "2", "3"}) {
    for (const int micro_batches : {1, 5}) {
      CAPTURE(ahead, micro_batches);
      CHECK(streamed(ring_job(0, micro_batches), from_devices + "gather_ahead = " + ahead) == collectives + norm);
    }
  }
}

TEST_CASE("streamed weights: gathers hide behind a layer's passes of all micro-batches") {
  const Time C = 200 * us;
  for (const int m : {1, 4}) {
    CAPTURE(m);
    // Embedding (free) and first layer are gathered before anything computes, the second layer beside the first one.
    // The head is there when the second layer is over, and that layer is gathered again in its place: g. Then
    // everything is there, until the gradients of the first layer, and then the embedding's, are reduced.
    const Time forward = gE + g + m * 2 * C, backward = g + m * 4 * C;
    CHECK(streamed(ring_job(C, m), from_devices) == forward + backward + r + rE + norm);
    // Nothing gathered ahead: units wait for all gathers, gradients are reduced beside.
    CHECK(streamed(ring_job(C, m), from_devices + "gather_ahead = 0") ==
          2 * (gE + 2 * g) + gH + m * 6 * C + r + rE + norm);
  }
}

TEST_CASE("streamed weights: replicas with one micro-batch less wait for the others") {
  const Time C = 200 * us;
  TestJob job = ring_job(C, 2);
  job.workload.global_batch = 5;  // 2, 1, 1, 1
  // When the first replica is through the second layer, the others have sent it that layer's parts again: it does not
  // wait for them as above.
  CHECK(streamed(job, from_devices) == gE + g + 2 * 2 * C + 2 * 4 * C + r + rE + norm);
}

TEST_CASE("streamed weights: of a host's parts the first are waited for, and its last gradients") {
  const Time C = 1000 * us;
  // As from the devices; but the embedding's parts come first, those of all others beside the gather before, and its
  // gradients go to the host when they are reduced. There the update is: no norm.
  CHECK(streamed(ring_job(C, 1, host), from_hosts) == hE + gE + g + 2 * C + g + 4 * C + r + rE + oE);
}

TEST_CASE("streamed weights: one replica has whole units from its host") {
  const Time C = 1000 * us;
  const auto whole = [](std::int64_t bytes) { return us + 8000 + us + bytes * 1000; };
  const Time wE = whole(2 * 139'264), w = whole(2 * 49'984);
  TestJob job = ring_job(C, 1, host);
  job.workload.global_batch = 3;
  // Embedding and first layer come one after the other, the others beside computing, but for the second layer when it
  // comes again. At the end the gradients of the first layer leave, and when they have come those of the embedding.
  const Time gradients = (4 * 49'984 + 4 * 139'264) * 1000 + 2 * (us + us + 8000);
  CHECK(streamed(job, from_hosts + "data = 1\nspare_devices = \"idle\"") ==
        wE + w + 3 * 2 * C + w + 3 * 4 * C + gradients);
}

}  // namespace tessera::strategy
