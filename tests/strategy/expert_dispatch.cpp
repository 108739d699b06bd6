// Tokens that cross the network once for each node with an expert of theirs.
#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <set>

#include "jobs.hpp"
#include "strategy/megatron/expert_dispatch.hpp"

namespace tessera::strategy {
namespace {
namespace expert_dispatch {

using program::CollectiveKind;
using Names = std::vector<std::string>;

workload::LayerFields layer_of(std::int64_t experts, std::int64_t taken, std::int64_t groups, std::int64_t open) {
  workload::LayerFields layer;
  layer.experts = experts;
  layer.experts_per_token = taken;
  layer.expert_groups = groups;
  layer.groups_per_token = open;
  return layer;
}

/// A layer in two has `experts`, of which a token goes to two; sequences of 128 tokens of 512 numbers.
TestJob job_of(std::uint32_t devices, std::int64_t experts) {
  TestJob job(devices, mixture(2, experts), devices);
  job.workload.sequence = 128;
  return job;
}

Names errors_of(TestJob& job, const std::string& keys) {
  static_cast<void>(job.plan(keys));
  return job.diagnostics.errors();
}

std::vector<program::Collective> all_to_alls(const program::Program& program) {
  std::vector<program::Collective> found;
  std::ranges::copy_if(program.collectives, std::back_inserter(found),
                       [](const program::Collective& one) { return one.kind == CollectiveKind::all_to_all; });
  return found;
}

std::vector<program::DeviceId> members(const program::Program& program, const program::Collective& of,
                                       program::DeviceId device) {
  return program.groups[program.devices[device].groups[of.group_slot]].members;
}

TEST_CASE("parts of the experts that a token reaches, on average") {
  using megatron::distinct_parts;
  // 2 of 4 experts: both are in the other half of two with 1/6.
  CHECK(distinct_parts(layer_of(4, 2, 0, 0), 2) == Approx(2 * 5.0 / 6));
  CHECK(distinct_parts(layer_of(4, 2, 0, 0), 1) == Approx(1));
  CHECK(distinct_parts(layer_of(4, 2, 0, 0), 4) == Approx(2));
  // 2 of 8 in 2 of 4 groups. A group is open with 1/2, and has none of the two of its 4 candidates with 1/6.
  CHECK(distinct_parts(layer_of(8, 2, 4, 2), 4) == Approx(4 * 0.5 * 5 / 6));
  // A half of two groups has 0, 1, 2 of the open ones with 1/6, 4/6, 1/6: no expert in it with 1, 1/6, 0.
  CHECK(distinct_parts(layer_of(8, 2, 4, 2), 2) == Approx(2 * (1 - 1.0 / 6 - 4.0 / 6 / 6)));
  CHECK(distinct_parts(layer_of(8, 2, 4, 2), 8) == Approx(2));
  CHECK(distinct_parts(layer_of(12, 2, 4, 2), 6) == 0);
  // DeepSeek-V3, 8 of 256 experts in 4 of 8 groups, a group a node: at most 4 nodes.
  const double nodes = distinct_parts(layer_of(256, 8, 8, 4), 8);
  CHECK(nodes > 3.5);
  CHECK(nodes < 4);
}

TEST_CASE("once a node: from place to place across nodes, then to each device inside") {
  TestJob job = job_of(16, 16);  // nodes of 8 devices
  const Plan plan = job.plan("expert_parallel = 16\nexpert_dispatch = \"once-a-node\"");
  REQUIRE(job.diagnostics.errors() == Names{});
  CHECK(program::check_program(plan.program, job.machine) == Names{});
  const auto found = all_to_alls(plan.program);
  REQUIRE(found.size() == 2);
  CHECK(members(plan.program, found[0], 3) == std::vector<program::DeviceId>{3, 11});
  CHECK(members(plan.program, found[1], 3) == std::vector<program::DeviceId>{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(members(plan.program, found[1], 9) == std::vector<program::DeviceId>{8, 9, 10, 11, 12, 13, 14, 15});
  // 128 tokens of 512 numbers of 2 B. Both experts are in the other node with 8 x 7 / (16 x 15) = 7/30: a token reaches
  // 2 x 23/30 nodes, and 2 devices. 200,977 B are next to 50,244 numbers for each node.
  constexpr std::int64_t own = 2 * 128 * 512;
  CHECK(found[0].bytes.value() == 2 * 2 * 50244);
  CHECK(found[1].bytes.value() == own * 2);
  const Plan copies = job.plan("expert_parallel = 16");
  REQUIRE(all_to_alls(copies.program).size() == 1);
  CHECK(all_to_alls(copies.program)[0].bytes.value() == own * 2);
  // Within one node nothing crosses.
  const Plan inside = job.plan("expert_parallel = 8\nexpert_dispatch = \"once-a-node\"");
  REQUIRE(all_to_alls(inside.program).size() == 1);
  CHECK(members(inside.program, all_to_alls(inside.program)[0], 9).size() == 8);
}

TEST_CASE("once a node where tensor ranks hold whole experts, or parts of them") {
  TestJob job = job_of(16, 8);
  const Plan whole = job.plan(
      "tensor = 4\nsequence_parallel = true\nexpert_tensor = 1\nexpert_parallel = 8\nexpert_dispatch = "
      "\"once-a-node\"");
  REQUIRE(job.diagnostics.errors() == Names{});
  CHECK(members(whole.program, all_to_alls(whole.program)[0], 5).size() == 8);  // two replicas of a node
  const Plan cut = job.plan("tensor = 4\nexpert_parallel = 4\nexpert_dispatch = \"once-a-node\"");
  REQUIRE(job.diagnostics.errors() == Names{});
  const auto found = all_to_alls(cut.program);
  REQUIRE(found.size() == 2);
  CHECK(members(cut.program, found[0], 5) == std::vector<program::DeviceId>{5, 13});
  CHECK(members(cut.program, found[1], 5) == std::vector<program::DeviceId>{1, 5});
}

TEST_CASE("once a node in DualPipe: what runs beside a forward pass has groups of its own, with the same members") {
  TestJob job(32, mixture(2, 16), 64);  // two stages of two nodes
  job.workload.sequence = 128;
  const Plan plan =
      job.plan("pipeline = 2\nexpert_parallel = 16\nexpert_dispatch = \"once-a-node\"\nschedule = \"dualpipe\"");
  REQUIRE(job.diagnostics.errors() == Names{});
  CHECK(program::check_program(plan.program, job.machine) == Names{});
  std::map<std::vector<program::DeviceId>, std::set<std::uint32_t>> slots;
  for (const program::Collective& one : all_to_alls(plan.program))
    slots[members(plan.program, one, 19)].insert(one.group_slot);
  REQUIRE(slots.size() == 2);
  CHECK(slots[{19, 27}].size() == 2);                          // from node to node
  CHECK(slots[{16, 17, 18, 19, 20, 21, 22, 23}].size() == 2);  // inside
}

TEST_CASE("once a node that cannot be") {
  TestJob job = job_of(24, 12);
  CHECK(errors_of(job, "expert_parallel = 12\nexpert_dispatch = \"once-a-node\"") ==
        Names{"strategy.toml:2:19: the 12 ranks of experts do not stand in equal runs, node by node, allowed: "
              "expert_dispatch = \"copies\""});
  CHECK(errors_of(job, "expert_parallel = 4\nexpert_dispatch = \"once-a-node\"\nexpert_imbalance = 0.1") ==
        Names{"strategy.toml:3:20: an uneven load goes with expert_dispatch = \"copies\" alone, allowed: 0"});
  TestJob dense(8, gpt(2, 512, 8), 8);
  CHECK(errors_of(dense, "expert_dispatch = \"once-a-node\"") ==
        Names{"strategy.toml:1:19: model gpt has no experts: expert_dispatch = \"copies\""});
}

}  // namespace expert_dispatch
}  // namespace
}  // namespace tessera::strategy
