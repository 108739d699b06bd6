// Whole experts on the tensor ranks of a stage.
#include <catch2/catch.hpp>

#include <algorithm>

#include "jobs.hpp"

namespace tessera::strategy {
namespace {

using program::CollectiveKind;
using program::MemoryCategory;

// One expert has 8 h^2 + 5 h parameters, h = 512; a layer in two has four of them, of which a token goes to two.
constexpr std::int64_t h = 512, one_expert = 8 * h * h + 5 * h, sequence = 128;

TestJob four_experts(std::uint32_t devices) {
  TestJob job(devices, mixture(2, 4), 8);
  job.workload.sequence = sequence;
  return job;
}

Plan spread(TestJob& job, const std::string& keys) {
  Plan plan = job.plan("sequence_parallel = true\n" + keys);
  REQUIRE(job.diagnostics.errors() == std::vector<std::string>{});
  CHECK(program::check_program(plan.program, job.machine) == std::vector<std::string>{});
  return plan;
}

std::vector<program::Collective> of_kind(const program::Program& program, CollectiveKind kind) {
  std::vector<program::Collective> found;
  std::ranges::copy_if(program.collectives, std::back_inserter(found),
                       [kind](const program::Collective& one) { return one.kind == kind; });
  return found;
}

/// Members of the group in which a device sends tokens to experts; empty: it does not.
std::vector<program::DeviceId> experts_of(const program::Program& program, program::DeviceId device) {
  const auto found = of_kind(program, CollectiveKind::all_to_all);
  if (found.empty()) return {};
  return program.groups[program.devices[device].groups[found.front().group_slot]].members;
}

/// The product of the experts' first layer.
workload::Operator first_product(const program::Program& program) {
  const auto found = std::ranges::find(program.operators, "expert fc1", &workload::Operator::name);
  REQUIRE(found != program.operators.end());
  return *found;
}

bool has_label(const program::Program& program, const std::string& label) {
  return std::ranges::find(program.labels, label) != program.labels.end();
}

std::int64_t weights_of(const Plan& plan) { return at_peak(plan.program, 0, MemoryCategory::weights) / 2; }

}  // namespace

TEST_CASE("whole experts: each die of a stage holds one, and tokens go there from die to die") {
  TestJob job = four_experts(4);
  const Plan cut = spread(job, "tensor = 4");
  const Plan whole = spread(job, "tensor = 4\nexpert_tensor = 1\nexpert_parallel = 4");
  CHECK(experts_of(cut.program, 0).empty());
  CHECK(experts_of(whole.program, 2) == std::vector<program::DeviceId>{0, 1, 2, 3});
  // A quarter of the tokens, two copies of each, of 2 B a number, from each die.
  const auto sent = of_kind(whole.program, CollectiveKind::all_to_all);
  REQUIRE(sent.size() == 1);
  CHECK(sent[0].bytes.value() == 2 * (sequence / 4) * 2 * h);
  // 128 tokens with two copies over four experts are 64 rows for each: on one die all of one expert's, or on each die
  // those of all four, of a quarter of the columns.
  const workload::Operator one = first_product(whole.program), all = first_product(cut.program);
  CHECK(std::array{one.batch, one.m, one.n, one.k} == std::array<std::int64_t, 4>{1, 64, 4 * h, h});
  CHECK(std::array{all.batch, all.m, all.n, all.k} == std::array<std::int64_t, 4>{4, 64, h, h});
  CHECK(one.flops == all.flops);
  // The same parameters, but that output biases of four experts are whole on each die where experts are cut.
  CHECK(weights_of(cut) - weights_of(whole) == 3 * h);
  CHECK(has_label(cut.program, "expert all-gather"));
  CHECK(has_label(cut.program, "expert reduce-scatter"));
  CHECK(!has_label(whole.program, "expert all-gather"));
  CHECK(!has_label(whole.program, "expert reduce-scatter"));
  // Of activations: the inputs of both layers of the experts are 256 rows of h and of 4 h in a quarter, either way, but
  // that the first one is gathered where experts are cut: 256 rows instead of 64.
  const auto kept = [](const Plan& plan) { return at_peak(plan.program, 0, MemoryCategory::activations); };
  CHECK(kept(cut) - kept(whole) == 2 * (256 - 64) * h);
}

TEST_CASE("whole experts: more ranks than a stage has dies take replicas, fewer leave several that hold the same") {
  TestJob job = four_experts(8);
  const std::string keys = "tensor = 2\nexpert_tensor = 1\n";
  // Four ranks are two dies of each of two replicas: of four replicas two have the same experts.
  const Plan four = spread(job, keys + "expert_parallel = 4");
  CHECK(experts_of(four.program, 1) == std::vector<program::DeviceId>{0, 1, 2, 3});
  CHECK(experts_of(four.program, 6) == std::vector<program::DeviceId>{4, 5, 6, 7});
  // Two ranks are the two dies of a replica, with two experts each.
  const Plan two = spread(job, keys + "expert_parallel = 2");
  CHECK(experts_of(two.program, 6) == std::vector<program::DeviceId>{6, 7});
  CHECK(weights_of(two) - weights_of(four) == one_expert);
  // One: all experts on each die.
  const Plan one = spread(job, keys + "expert_parallel = 1");
  CHECK(experts_of(one.program, 0).empty());
  CHECK(weights_of(one) - weights_of(two) == 2 * one_expert);
  // 4 dies of a stage, of which two pairs have the same experts.
  TestJob single = four_experts(4);
  const Plan pairs = spread(single, "tensor = 4\nexpert_tensor = 1\nexpert_parallel = 2");
  CHECK(experts_of(pairs.program, 3) == std::vector<program::DeviceId>{2, 3});
}

TEST_CASE("whole experts: gradients are summed over the devices that hold the same") {
  // A stage of four dies, two groups of two: dies 0 and 2 hold the same two experts, though there is one replica.
  TestJob job = four_experts(4);
  const Plan plan = spread(job, "tensor = 4\nexpert_tensor = 1\nexpert_parallel = 2");
  const auto sums = of_kind(plan.program, CollectiveKind::all_reduce);
  const auto found =
      std::ranges::find(sums, 4 * 2 * one_expert, [](const program::Collective& one) { return one.bytes.value(); });
  REQUIRE(found != sums.end());
  const auto group = plan.program.devices[2].groups[found->group_slot];
  CHECK(plan.program.groups[group].members == std::vector<program::DeviceId>{0, 2});
  // Eight dies, groups of four over two replicas of two: dies 1 and 5.
  TestJob more = four_experts(8);
  const Plan replicas = spread(more, "tensor = 2\nexpert_tensor = 1\nexpert_parallel = 4");
  const auto over = of_kind(replicas.program, CollectiveKind::all_reduce);
  const auto same =
      std::ranges::find(over, 4 * one_expert, [](const program::Collective& one) { return one.bytes.value(); });
  REQUIRE(same != over.end());
  const auto members = replicas.program.groups[replicas.program.devices[5].groups[same->group_slot]].members;
  CHECK(members == std::vector<program::DeviceId>{1, 5});
  // The distributed optimizer halves what their optimizer state takes, 12 B a parameter.
  const auto state = [&](const std::string& keys) {
    return at_peak(spread(job, "tensor = 4\nexpert_tensor = 1\nexpert_parallel = 2\n" + keys).program, 0,
                   MemoryCategory::optimizer_state);
  };
  CHECK(state("") - state("distributed_optimizer = true") == 12 * one_expert);
}

TEST_CASE("whole experts: cut over some of the tensor ranks, tokens are gathered over these") {
  TestJob job = four_experts(8);
  const Plan plan = spread(job, "tensor = 4\nexpert_tensor = 2\nexpert_parallel = 4");
  // Ranks 0 and 1 hold halves of one expert: tokens go to those of one's own half.
  CHECK(experts_of(plan.program, 1) == std::vector<program::DeviceId>{1, 3, 5, 7});
  // Both gather what came to either: two copies of half of a replica's tokens.
  std::vector<std::int64_t> gathered;
  for (const program::Collective& one : of_kind(plan.program, CollectiveKind::all_gather)) {
    const auto& members = plan.program.groups[plan.program.devices[1].groups[one.group_slot]].members;
    if (members == std::vector<program::DeviceId>{0, 1}) gathered.push_back(one.bytes.value());
  }
  CHECK(gathered == std::vector<std::int64_t>{2 * (sequence / 2) * 2 * h});
  const workload::Operator product = first_product(plan.program);
  CHECK(std::array{product.batch, product.m, product.n} == std::array<std::int64_t, 3>{1, 128, 2 * h});
}

TEST_CASE("whole experts: all tensor ranks by number are what is there without") {
  TestJob job = four_experts(8);
  const std::string keys = "tensor = 2\nexpert_parallel = 2\nexpert_imbalance = 0.3\n";
  const Plan without = spread(job, keys), with = spread(job, keys + "expert_tensor = 2");
  REQUIRE(without.program.collectives.size() == with.program.collectives.size());
  CHECK(program::search::key_of(without.program, program::Fidelity::simulated) ==
        program::search::key_of(with.program, program::Fidelity::simulated));
}

TEST_CASE("whole experts: sound programs") {
  for (const std::string cut :
       {"tensor = 4\nexpert_parallel = 4", "tensor = 4\nexpert_parallel = 8\nexpert_imbalance = 0.4\npipeline = 2",
        "tensor = 2\nexpert_parallel = 8\nrecomputation = \"full\"",
        "tensor = 8\nexpert_parallel = 2\noverlap_gradient_reduction = true\ndistributed_optimizer = true",
        "tensor = 4\nexpert_parallel = 8\ndata_sharding = \"parameters\"",
        "tensor = 4\nexpert_parallel = 4\ndata_sharding = \"parameters\"\nreshard_after_forward = false"}) {
    CAPTURE(cut);
    TestJob job(32, mixture(4, 8), 64);
    job.workload.sequence = sequence;
    (void)spread(job, "expert_tensor = 1\n" + cut);
  }
}

TEST_CASE("whole experts: what does not divide is refused in a line") {
  TestJob job = four_experts(8);
  const auto error = [&](const std::string& keys) {
    (void)job.plan(keys);
    return job.diagnostics.errors().size() == 1 ? job.diagnostics.errors()[0] : "none, or several";
  };
  CHECK(error("tensor = 2\nexpert_tensor = 1\nexpert_parallel = 2") ==
        "strategy.toml:2:17: expert_tensor = 1 < tensor = 2 sends each tensor rank's own tokens to experts: "
        "sequence_parallel = true");
  const std::string keys = "sequence_parallel = true\n";
  CHECK(error(keys + "tensor = 4\nexpert_tensor = 3") ==
        "strategy.toml:3:17: expert_tensor = 3 does not divide tensor = 4");
  CHECK(error(keys + "tensor = 8\nexpert_tensor = 1\nexpert_parallel = 4") == "none, or several");  // which is fine
  CHECK(error(keys + "tensor = 4\nexpert_tensor = 1\nexpert_parallel = 4\ndata = 2") == "none, or several");
  job.model.layer_kinds[1].experts = 12;
  CHECK(
      error(keys + "tensor = 4\nexpert_tensor = 1\nexpert_parallel = 6") ==
      "strategy.toml:4:19: expert_parallel = 6 and the tensor 4 / expert_tensor 1 = 4 ranks of a replica do not divide "
      "each other");
  CHECK(error(keys + "tensor = 4\nexpert_tensor = 1\nexpert_parallel = 12") ==
        "strategy.toml:4:19: expert_parallel = 12 is 3 replicas of 4 ranks each, which does not divide data = 2");
  job.model = gpt(2, 512, 8, 1024);
  CHECK(error("expert_tensor = 1") == "strategy.toml:1:17: model gpt has no experts: expert_tensor = 0");
}

}  // namespace tessera::strategy
