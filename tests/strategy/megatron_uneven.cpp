// Layers that stages do not divide, and machines of which a part is used.
#include <catch2/catch.hpp>

#include "jobs.hpp"

namespace tessera::strategy {
namespace {

std::string described(const Plan& plan, const std::string& key) {
  for (const auto& [name, value] : plan.description) {
    if (name == key) return value;
  }
  return "";
}

/// 1 ps a FLOP.
class ByFlops final : public workload::CostModel {
 public:
  Time time(const workload::Operator& op, const machine::DeviceSpec&) const override { return op.flops; }
};

/// Per token a layer of width 512 has 24 h + 4 s = 20,480 h FLOP forward, the logits 2 v = 102,400 h: five layers. The
/// embedding has none.
TestJob job_of(std::int64_t layers, std::uint32_t devices) {
  TestJob job(devices, gpt(layers, 512, 8), 16);
  job.workload.sequence = 2048;
  job.cost = std::make_shared<ByFlops>();
  return job;
}

std::string stages(std::int64_t layers, const std::string& keys) {
  TestJob job = job_of(layers, 4);
  const Plan plan = job.plan("pipeline = 4\n" + keys);
  return job.diagnostics.ok() ? described(plan, "layers a stage") : job.diagnostics.errors()[0];
}

/// Bytes by device.
auto weights_of(const Plan& plan) {
  return [&plan](program::DeviceId device) { return at_peak(plan.program, device, program::MemoryCategory::weights); };
}

std::vector<program::DeviceId> taking_part(const Plan& plan) {
  std::vector<program::DeviceId> devices;
  for (program::DeviceId i = 0; i < plan.program.devices.size(); ++i) {
    if (!plan.program.devices[i].streams.empty()) devices.push_back(i);
  }
  return devices;
}

}  // namespace

TEST_CASE("layers are spread by time: the logits of the last stage count") {
  // One layer each, the last stage is at 1 + 5: the six others go to the first three, which are at 3 then.
  CHECK(stages(10, "uneven_layers = \"spread\"") == "3 x 3, 1 x 1");
  CHECK(stages(14, "uneven_layers = \"spread\"") == "5 x 1, 4 x 2, 1 x 1");
  // 26: [7, 7, 7, 1 + 5] leaves four; the last stage, at 6, takes one, then all are at 7.
  CHECK(stages(26, "uneven_layers = \"spread\"") == "8 x 3, 2 x 1");
  // The core of all heads on each rank: 12 h + 4 s = 14,336 h a layer, the logits 51,200 h, three layers and a half.
  const auto cut_in_two = [](const char* attention) {
    TestJob job = job_of(26, 8);
    const Plan plan = job.plan("pipeline = 4\ntensor = 2\nuneven_layers = \"spread\"\nattention = \"" +
                               std::string(attention) + "\"");
    return described(plan, "layers a stage");
  };
  CHECK(cut_in_two("cut") == "8 x 3, 2 x 1");
  CHECK(cut_in_two("whole") == "8 x 1, 7 x 2, 4 x 1");
  // What the stages divide stays even.
  CHECK(stages(12, "uneven_layers = \"spread\"") == "3");
}

TEST_CASE("layers of each stage may be given, also of each chunk") {
  CHECK(stages(10, "stage_layers = [3, 4, 2, 1]") == "3 x 1, 4 x 1, 2 x 1, 1 x 1");
  // Two chunks: stages hold 1 + 1, 2 + 1, 1 + 1 and 1 + 2 layers.
  CHECK(stages(10, "uneven_layers = \"spread\"\nstage_layers = [3, 4, 2, 1]") == "3 x 1, 4 x 1, 2 x 1, 1 x 1");
  CHECK(stages(10, "interleave = 2\nstage_layers = [1, 2, 1, 1, 1, 1, 1, 2]") == "2 x 1, 3 x 1, 2 x 1, 3 x 1");
}

TEST_CASE("a stage holds the weights and activations of its own layers") {
  TestJob job = job_of(10, 4);
  const Plan plan = job.plan("pipeline = 4\nmicro_batch = 1\nstage_layers = [3, 4, 2, 1]");
  REQUIRE(job.diagnostics.errors().empty());
  const auto weights = weights_of(plan);
  // 12 h^2 + 13 h parameters a layer, 2 B each; stages 1 and 2 hold nothing else.
  const std::int64_t layer = 2 * (12 * 512 * 512 + 13 * 512);
  CHECK(weights(1) == 4 * layer);
  CHECK(weights(2) == 2 * layer);
  // 1F1B: stage 1 keeps three micro-batches, stage 2 two.
  const auto activations = [&](program::DeviceId device) {
    return at_peak(plan.program, device, program::MemoryCategory::activations);
  };
  CHECK(activations(1) == 3 * activations(2));
}

TEST_CASE("the ends of a pipeline may hold the embedding and the logits alone") {
  TestJob job = job_of(10, 4);
  const Plan plan = job.plan("pipeline = 4\nstage_layers = [0, 5, 5, 0]");
  REQUIRE(job.diagnostics.errors().empty());
  const auto weights = weights_of(plan);
  // 2 B a parameter: words and positions (h each) on the first stage; words, tied, and the final norm on the last.
  const std::int64_t words = 51200 * 512;
  CHECK(weights(1) == 5 * 2 * (12 * 512 * 512 + 13 * 512));
  CHECK(weights(0) - weights(3) == 2 * (512 * job.model.max_positions - 2 * 512));
  CHECK(weights(3) == 2 * (words + 2 * 512));
}

TEST_CASE("what does not fit is refused with the key that helps") {
  CHECK(stages(10, "") ==
        "strategy.toml:1:12: pipeline 4 x interleave 1 = 4 does not divide the 10 layers of gpt; uneven_layers = "
        "\"spread\" gives some stages one more");
  CHECK(stages(3, "uneven_layers = \"spread\"") ==
        "strategy.toml:1:12: pipeline 4 x interleave 1 = 4 does not divide the 3 layers of gpt");
  CHECK(stages(10, "stage_layers = [3, 4, 2]") ==
        "strategy.toml:2:16: 3 numbers, allowed: pipeline 4 x interleave 1 = 4");
  CHECK(stages(10, "stage_layers = [3, 4, 2, 2]") ==
        "strategy.toml:2:16: allowed are numbers of at least 1, or 0 in the first and the last place, that add up to "
        "the 10 "
        "layers of gpt, not to 11");
  CHECK(stages(10, "stage_layers = [3, 7, 0, 0]") ==
        "strategy.toml:2:16: allowed are numbers of at least 1, or 0 in the first and the last place, that add up to "
        "the 10 "
        "layers of gpt");
}

TEST_CASE("devices beyond the cut stay idle when that is asked for") {
  TestJob job = job_of(8, 16);
  const Plan plan = job.plan("tensor = 4\npipeline = 2\ndata = 1\nspare_devices = \"idle\"");
  REQUIRE(job.diagnostics.errors().empty());
  CHECK(taking_part(plan) == std::vector<program::DeviceId>{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(described(plan, "left out") == "gpu 8 to gpu 15");
}

TEST_CASE("a node with a dead device gives as many as make whole tensor-parallel groups") {
  TestJob job = job_of(8, 16);
  job.machine.speed[3] = 0;
  // All eight of a node are needed: node 0 is left out.
  const Plan whole = job.plan("tensor = 8\nspare_devices = \"idle\"");
  REQUIRE(job.diagnostics.errors().empty());
  CHECK(taking_part(whole) == std::vector<program::DeviceId>{8, 9, 10, 11, 12, 13, 14, 15});
  CHECK(described(whole, "left out") == "gpu 0 to gpu 2, gpu 4 to gpu 7");
  // Groups of four: one of node 0, two of node 1, so three replicas.
  job.workload.global_batch = 24;
  const Plan fours = job.plan("tensor = 4\nspare_devices = \"idle\"");
  REQUIRE(job.diagnostics.errors().empty());
  CHECK(described(fours, "data parallel") == "3");
  CHECK(taking_part(fours) == std::vector<program::DeviceId>{0, 1, 2, 4, 8, 9, 10, 11, 12, 13, 14, 15});
  CHECK(described(fours, "left out") == "gpu 5 to gpu 7");
  // With one dead in each node no group of eight is inside one: it takes the first eight that work.
  job.machine.speed[9] = 0;
  const Plan anywhere = job.plan("tensor = 8\ndata = 1\nspare_devices = \"idle\"");
  REQUIRE(job.diagnostics.errors().empty());
  CHECK(taking_part(anywhere) == std::vector<program::DeviceId>{0, 1, 2, 4, 5, 6, 7, 8});
  CHECK(described(anywhere, "left out") == "gpu 10 to gpu 15");
}

}  // namespace tessera::strategy
