// Groups of replicas over which something is cut, and which hold the same (HSDP): what a device holds and sends. Times
// are in tests/experiment/sharded_weights.cpp.
#include <set>

#include "sharded_jobs.hpp"

namespace tessera::strategy::sharded {
namespace {

// 8 replicas in two groups of 4: a device holds and sends in its group what one of 4 replicas does, and with the same
// place of the other group it all-reduces its part of gradients, of which it sends 2 x 1/2.
const std::string four = "shard_ranks = 4\n", zero1 = "distributed_optimizer = true\n";
const std::string zero2 = "data_sharding = \"gradients\"\n", zero3 = "data_sharding = \"parameters\"\n";

constexpr std::int64_t held = 2 * layer + embedding + norm, used = held + words;
constexpr std::int64_t numbers = 2 * 2 * 4;  // two of 4 B, of the norm of a group of 4, twice each

std::vector<program::DeviceId> members(const Plan& plan, program::DeviceId device, std::uint32_t slot) {
  const program::GroupId group = plan.program.devices[device].groups[slot];
  return group == program::no_group ? std::vector<program::DeviceId>{} : plan.program.groups[group].members;
}

/// The groups of two or more that a device is in.
std::set<std::vector<program::DeviceId>> groups_of(const Plan& plan, program::DeviceId device) {
  std::set<std::vector<program::DeviceId>> found;
  for (std::uint32_t slot = 0; slot < plan.program.devices[device].groups.size(); ++slot)
    if (const auto some = members(plan, device, slot); !some.empty()) found.insert(some);
  return found;
}

}  // namespace

TEST_CASE("shard groups: a device holds what one of a group's replicas does") {
  TestJob group = small_job(4), job = small_job(8);
  for (const std::string& keys : {zero1, zero2, zero3, zero3 + "reshard_after_forward = false\n"}) {
    CAPTURE(keys);
    CHECK(held_by(job, keys + four) == held_by(group, keys));
    CHECK(held_by(job, keys + "shard_ranks = 8") == held_by(job, keys));
    CHECK(held_by(job, keys + "shard_ranks = 2").optimizer == 2 * held_by(group, keys).optimizer);
  }
}

TEST_CASE("shard groups: parts of gradients are all-reduced over them, weights gathered in each") {
  TestJob job = small_job(8);  // 4 micro-batches
  CHECK(sent_by(job, zero1 + four) == (4 + 2) * held * 3 / 4 + 4 * held / 4 + numbers);
  CHECK(sent_by(job, zero2 + four) == 4 * (4 * used * 3 / 4 + 4 * used / 4) + 2 * held * 3 / 4 + numbers);
  CHECK(sent_by(job, zero3 + four) == 4 * ((2 * 2 + 4) * used * 3 / 4 + 4 * used / 4) + numbers);
  // Of the 4 micro-batches the last one's alone are summed over the groups, once all are added up.
  const std::string last = "group_reduction = \"last-micro-batch\"\n";
  CHECK(sent_by(job, zero2 + four + last) == 4 * 4 * used * 3 / 4 + 4 * used / 4 + 2 * held * 3 / 4 + numbers);
  CHECK(sent_by(job, zero3 + four + last) == 4 * (2 * 2 + 4) * used * 3 / 4 + 4 * used / 4 + numbers);
  CHECK(held_by(job, zero3 + four + last) == held_by(job, zero3 + four));
  for (const std::string& keys : {zero1, zero2})
    CHECK(sent_by(job, keys + four + "overlap_parameter_gathering = true") == sent_by(job, keys + four));
  CHECK(sent_by(job, zero1 + four + "overlap_gradient_reduction = true") == sent_by(job, zero1 + four));
  // Four groups of two: half of it leaves in each, 2 x 3/4 of a half between them; a norm is told once.
  CHECK(sent_by(job, zero3 + "shard_ranks = 2") == 4 * ((2 * 2 + 4) * used / 2 + 4 * used * 3 / 4) + 2 * 4);
  job.workload.phase = workload::Phase::prompt;
  CHECK(sent_by(job, zero3 + four + "micro_batch = 1") == 4 * 2 * used * 3 / 4);
}

TEST_CASE("shard groups: they are neighbours, of one tensor rank and with their context ranks") {
  TestJob job = small_job(16);
  job.workload.flash_attention = true;  // of context ranks
  using Groups = std::set<std::vector<program::DeviceId>>;
  const auto of = [&](const std::string& keys) { return groups_of(sound_plan(job, keys), 5); };
  // Tensor ranks 4 and 5 of replica 2; with replica 3 they are a group, with replicas 0, 4 and 6 they hold the same. A
  // gradient norm is that of the group.
  CHECK(of(zero3 + "tensor = 2\nshard_ranks = 2") == Groups{{4, 5}, {5, 7}, {1, 5, 9, 13}, {4, 5, 6, 7}});
  // Context ranks 0 and 1 of replica 1 are two of a group of four.
  CHECK(of(zero3 + "tensor = 2\ncontext_parallel = 2\nshard_ranks = 4") ==
        Groups{{4, 5}, {5, 7}, {1, 3, 5, 7}, {5, 13}, {0, 1, 2, 3, 4, 5, 6, 7}});
}

TEST_CASE("shard groups: experts are cut over those of a group, and added up over groups") {
  using namespace mixture_parameters;
  TestJob job = mixture_job(8);
  // Two experts on each of two ranks: in a group of four two devices hold them, in all four do.
  const Held two = held_by(job, zero3 + four + "expert_parallel = 2");
  CHECK(two.weights == 2 * (rest / 4 + 2 * expert / 2));
  CHECK(two.buffers == (2 * 2 + 2 * 4) * (attention + router + 2 * expert));
  // One expert each: nobody in the group has the same, so it stays; its gradients are summed over the two groups, and
  // are whole beside those of the rest of their layer.
  const Held four_ranks = held_by(job, zero3 + four + "expert_parallel = 4");
  CHECK(four_ranks.weights == 2 * (rest / 4 + expert));
  CHECK(four_ranks.buffers == 2 * 2 * dense + 2 * 4 * (attention + router + expert));
  const auto errors = [&](const std::string& keys) {
    (void)job.plan(keys);
    return job.diagnostics.errors();
  };
  CHECK(
      errors(zero3 + "shard_ranks = 2\nexpert_parallel = 4") ==
      std::vector<std::string>{"strategy.toml:2:15: 4 devices hold the experts of a layer once, and a group has tensor "
                               "1 x shard_ranks 2 = 2, allowed: a multiple of those"});
}

TEST_CASE("shard groups: sound programs that do not grow with micro-batches") {
  for (const std::string& keys : {zero1 + "overlap_gradient_reduction = true\n", zero2, zero3}) {
    for (const std::string cut :
         {"", "tensor = 2\nsequence_parallel = true\npipeline = 2", "pipeline = 2\ninterleave = 4",
          "pipeline = 4\nschedule = \"gpipe\"", "context_parallel = 2\nrecomputation = \"full\""}) {
      CAPTURE(keys, cut);
      TestJob job = small_job(16, 8);
      job.workload.flash_attention = true;
      job.workload.global_batch = 1600;
      const Plan few = sound_plan(job, keys + "shard_ranks = 2\n" + cut);
      job.workload.global_batch = 6400;
      const Plan many = sound_plan(job, keys + "shard_ranks = 2\n" + cut);
      CHECK(many.program.blocks.size() == few.program.blocks.size());
      if (keys == zero1) continue;
      const std::string last = keys + "shard_ranks = 2\ngroup_reduction = \"last-micro-batch\"\n" + cut;
      const std::size_t blocks = sound_plan(job, last).program.blocks.size();
      job.workload.global_batch = 1600;
      CHECK(sound_plan(job, last).program.blocks.size() == blocks);
    }
  }
  TestJob twins(8, gpt(4, 64, 4, 128), 64);  // both ends of a pipeline hold the same pieces
  twins.workload.sequence = 64;
  (void)sound_plan(twins, zero1 + "shard_ranks = 2\npipeline = 2\nschedule = \"dualpipe\"");
  TestJob streamed = small_job(8);
  (void)sound_plan(streamed, "weight_streaming = \"devices\"\nshard_ranks = 4");
}

TEST_CASE("shard groups: what cannot be is refused in a line, and what changes nothing warns") {
  TestJob job = small_job(8);
  job.workload.flash_attention = true;
  const auto errors = [&](const std::string& keys) {
    (void)job.plan(keys);
    return job.diagnostics.errors();
  };
  using Lines = std::vector<std::string>;
  for (const std::string ranks : {"1", "3", "16"})
    CHECK(errors(zero3 + "shard_ranks = " + ranks) ==
          Lines{"strategy.toml:2:15: shard_ranks = " + ranks + ", allowed: 0, or a divisor of data 8 from 2 on"});
  CHECK(
      errors(zero3 + "context_parallel = 2\nshard_ranks = 3") ==
      Lines{"strategy.toml:3:15: shard_ranks = 3, allowed: 0, or a divisor of context_parallel 2 x data 4 from 2 on"});
  CHECK(errors(zero1 + four + "gradient_reduction = \"all-reduce\"") ==
        Lines{"strategy.toml:3:22: groups of shard_ranks reduce-scatter gradients: gradient_reduction = \"auto\""});
  CHECK(errors(four).empty());
  CHECK(job.diagnostics.warnings() ==
        Lines{"strategy.toml:1:15: shard_ranks has no effect without distributed_optimizer or data_sharding"});
  const std::string last = "group_reduction = \"last-micro-batch\"\n";
  const std::string without =
      " has no effect without groups of shard_ranks whose micro-batches each leave a part of gradients";
  CHECK(errors(zero3 + last).empty());
  CHECK(job.diagnostics.warnings() == Lines{"strategy.toml:2:19: group_reduction" + without});
  CHECK(errors(zero1 + four + last).empty());
  CHECK(job.diagnostics.warnings() == Lines{"strategy.toml:3:19: group_reduction" + without});
  CHECK(errors("weight_streaming = \"devices\"\n" + four + last).empty());
  CHECK(job.diagnostics.warnings() == Lines{"strategy.toml:3:19: group_reduction" + without});
  job.workload.phase = workload::Phase::prompt;
  CHECK(errors(four).empty());
  CHECK(job.diagnostics.warnings() == Lines{"strategy.toml:1:15: shard_ranks has no effect where weights stay whole"});
}

}  // namespace tessera::strategy::sharded
