// Weight streaming: what devices and hosts hold, send and compute. Times are in tests/experiment/streamed_weights.cpp.
#include <catch2/catch.hpp>

#include "jobs.hpp"

namespace tessera::strategy {
namespace {

using program::MemoryCategory;
using Lines = std::vector<std::string>;

const std::string from_devices = "weight_streaming = \"devices\"\n", from_hosts = "weight_streaming = \"hosts\"\n";

// As in sharding.cpp: two layers of 49,984 parameters, an embedding of 139,264, a head of 8,192 tied words and a norm.
constexpr std::int64_t a_layer = 49'984, an_embedding = 139'264, head_words = 8'192, head_norm = 128;
constexpr std::int64_t gathered_twice = 2 * a_layer + an_embedding, the_head = head_words + head_norm;
constexpr program::DeviceId the_host = 4;

/// A ring of devices with a host, which has a link to each.
TestJob streaming_job(int devices = 4, std::int64_t layers = 2) {
  TestJob job(1, gpt(layers, 64, 4, 128), 32);
  job.machine = program::machine_of(
      "kind = \"ring\"\ndevices = " + std::to_string(devices) +
      "\nbandwidth = \"1 GB/s\"\nlatency = \"1 us\"\n[[host]]\nname = \"host\"\nmemory_capacity = \"1 GB\"\n"
      "memory_bandwidth = \"1 TB/s\"\nbandwidth = \"1 GB/s\"\nlatency = \"1 us\"\n");
  job.machine.device.memory_bandwidth = BytesPerSecond{1'000'000'000'000};
  job.machine.device.memory_capacity = Bytes{1'000'000'000};
  job.workload.sequence = 64;
  return job;
}

/// Weights, gradients, optimizer state, buffers.
Lines held(const Plan& plan, program::DeviceId device) {
  Lines bytes;
  for (const auto category :
       {MemoryCategory::weights, MemoryCategory::gradients, MemoryCategory::optimizer_state, MemoryCategory::buffers})
    bytes.push_back(std::to_string(at_peak(plan.program, device, category)));
  return bytes;
}

Lines texts(const std::vector<std::int64_t>& numbers) {
  Lines all;
  for (const std::int64_t number : numbers) all.push_back(std::to_string(number));
  return all;
}

std::int64_t sent_by_device(const TestJob& job, const Plan& plan, program::DeviceId device) {
  return static_cast<std::int64_t>(program::totals(plan.program, job.machine, device).bytes_sent);
}

}  // namespace

TEST_CASE("streaming: from devices, each holds its part of everything and the buffers of two units") {
  TestJob job = streaming_job();
  const std::int64_t part = (2 * a_layer + an_embedding + head_norm) / 4;
  CHECK(held(sound_plan(job, from_devices), 0) ==
        texts({2 * part, 4 * part, 12 * part, (2 * 2 + 2 * 4) * an_embedding}));
  CHECK(held(sound_plan(job, from_devices + "gather_ahead = 0"), 0).back() ==
        std::to_string((2 + 2 * 4) * an_embedding));
}

TEST_CASE("streaming: from hosts, devices hold buffers alone, and hosts what the devices would") {
  TestJob job = streaming_job();
  const Plan plan = sound_plan(job, from_hosts);
  // Beside two units and the gradients of two, two parts and two sums of them.
  CHECK(held(plan, 0) == texts({0, 0, 0, (2 * 2 + 2 * 4) * an_embedding + 2 * (2 + 4) * an_embedding / 4}));
  const std::int64_t all = 2 * a_layer + an_embedding + head_norm;
  CHECK(held(plan, the_host) == texts({2 * all, 4 * all, 12 * all, 0}));
  // One replica has units in their place at once.
  const Plan one = sound_plan(job, from_hosts + "data = 1\nspare_devices = \"idle\"");
  CHECK(held(one, 0) == texts({0, 0, 0, (2 * 2 + 2 * 4) * an_embedding}));
}

TEST_CASE("streaming: units are sent twice an iteration, the head's once, and gradients once") {
  TestJob job = streaming_job();
  const std::int64_t weights = 2 * (2 * gathered_twice + the_head), gradients = 4 * (gathered_twice + the_head);
  for (const std::int64_t batch : {4, 32, 400}) {
    CAPTURE(batch);
    job.workload.global_batch = batch;
    // Three quarters of all leave each device, and at the end two numbers of 4 B, twice each.
    const Plan devices = sound_plan(job, from_devices);
    CHECK(sent_by_device(job, devices, 0) == (weights + gradients) * 3 / 4 + 2 * 2 * 4);
    // The host sends all weights, and 8 B to each device for each of 4 units whose gradients have come; a device a
    // quarter of the gradients, and 8 B to ask for each of 7 units.
    const Plan hosts = sound_plan(job, from_hosts);
    CHECK(sent_by_device(job, hosts, the_host) == weights + 4 * 4 * 8);
    CHECK(sent_by_device(job, hosts, 0) == (weights + gradients) * 3 / 4 + gradients / 4 + 7 * 8);
  }
  job.workload.phase = workload::Phase::prompt;
  CHECK(sent_by_device(job, sound_plan(job, from_hosts), the_host) == 2 * (gathered_twice + the_head));
}

TEST_CASE("streaming: micro-batches are dealt out, the first replicas have one more") {
  TestJob job = streaming_job();
  job.workload.global_batch = 10;  // 3, 3, 2, 2
  const Plan plan = sound_plan(job, from_devices + "master_weights = \"none\"");
  const auto flops = [&](program::DeviceId device) {
    return static_cast<double>(program::totals(plan.program, job.machine, device).flops);
  };
  CHECK(flops(1) == flops(0));
  CHECK(flops(3) == flops(2));
  // The update is the same for all, and a few thousandths of a micro-batch.
  CHECK(flops(0) / flops(2) == Approx(1.5).epsilon(0.01));
  using Line = std::pair<std::string, std::string>;
  CHECK(std::ranges::count(plan.description, Line{"micro-batches a replica", "3 in 2, 2 in 2"}) == 1);
  CHECK(std::ranges::count(plan.description, Line{"weight streaming", "layer by layer, from devices"}) == 1);
}

TEST_CASE("streaming: activations of all micro-batches are kept, logits of one") {
  TestJob job = streaming_job();
  const auto kept = [&](std::int64_t batch) {
    job.workload.global_batch = batch;
    return at_peak(sound_plan(job, from_devices).program, 0, MemoryCategory::activations);
  };
  const std::int64_t one = kept(8) - kept(4), logits = kept(4) - one;
  CHECK(kept(40) == 10 * one + logits);
  CHECK(logits > 0);
}

TEST_CASE("streaming: sound programs that do not grow with micro-batches") {
  for (const std::string cut :
       {"", "tensor = 2\nsequence_parallel = true", "tensor = 2\nrecomputation = \"selective\"",
        "recomputed_sections = [\"mlp_norm\", \"activation\"]", "data = 3\nspare_devices = \"idle\""}) {
    for (const std::string& source : {from_devices, from_hosts}) {
      for (const int ahead : {0, 1, 2, 5, 100}) {
        CAPTURE(cut, source, ahead);
        TestJob job = streaming_job(8, 8);
        const std::string keys = source + "gather_ahead = " + std::to_string(ahead) + "\n" + cut;
        job.workload.global_batch = 1603;
        const std::size_t few = sound_plan(job, keys).program.blocks.size();
        job.workload.global_batch = 6403;
        CHECK(sound_plan(job, keys).program.blocks.size() == few);
      }
    }
  }
}

TEST_CASE("streaming: experts come from hosts whole where nobody else holds them") {
  TestJob job = streaming_job();
  job.model = mixture(2, 4);
  for (const std::string cut : {"", "expert_parallel = 2", "expert_parallel = 4"}) {
    CAPTURE(cut);
    // Of all weights each is sent twice, but for the head, whose words are the embedding's.
    const std::int64_t all = 2 * workload::parameter_count(job.model) - 2 * job.model.hidden + 1024 * job.model.hidden;
    const Plan plan = sound_plan(job, from_hosts + cut);
    CHECK(sent_by_device(job, plan, the_host) == Approx(2.0 * static_cast<double>(all)).epsilon(0.001));
  }
}

TEST_CASE("streaming: what cannot be is refused in a line") {
  TestJob job = streaming_job();
  const auto errors = [&](const std::string& keys) {
    (void)job.plan(keys);
    return job.diagnostics.errors();
  };
  CHECK(
      errors(from_devices + "tensor = 4") ==
      Lines{
          "strategy.toml:1:20: weight_streaming = \"devices\" cuts weights over replicas, and there is one: data = 1"});
  CHECK(
      errors(from_devices + "pipeline = 2") ==
      Lines{"strategy.toml:2:12: weight_streaming has all layers on all devices, one after another, allowed: pipeline "
            "= 1, interleave = 1"});
  CHECK(errors(from_devices + "reshard_after_forward = false") ==
        Lines{"strategy.toml:2:25: weight_streaming gives up a layer behind its forward pass, allowed: true"});
  CHECK(errors(from_devices + "micro_batch = 16") ==
        Lines{"strategy.toml:2:15: global_batch = 32, allowed with weight_streaming: a multiple of micro_batch 16, at "
              "least 64"});
  CHECK(errors("weight_streaming = \"dram\"") ==
        Lines{"strategy.toml:1:20: \"weight_streaming\": unknown choice \"dram\", allowed: off, devices, hosts"});
  job.machine.device.memory_capacity = Bytes{1'000'000};
  CHECK(
      errors(from_devices) ==
      Lines{"strategy.toml:1:20: 2 layers whole at a time and their gradients take 1.67 MB, and a device has 1.00 MB, "
            "allowed: more tensor ranks, or a smaller gather_ahead"});
  job.workload.phase = workload::Phase::generation;
  CHECK(errors(from_hosts) ==
        Lines{"strategy.toml:1:20: weight_streaming = \"hosts\" would gather all weights for each token: allowed in "
              "training and prompt"});
  TestJob no_host(4, gpt(2, 64, 4, 128), 32);
  (void)no_host.plan(from_hosts);
  CHECK(no_host.diagnostics.errors() ==
        Lines{"strategy.toml:1:20: machine test machine has no host, allowed: \"devices\", or a [[machine.host]]"});
}

}  // namespace tessera::strategy
