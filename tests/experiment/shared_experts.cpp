// Shared experts beside the tokens' way to the others and back, with the simulator behind them.
#include <catch2/catch.hpp>

#include "timed_plans.hpp"

namespace tessera::strategy::shared_beside {
namespace {

using program::MemoryCategory;

constexpr std::int64_t tokens = 128, hidden = 512;
constexpr Time microsecond = 1'000'000;

/// Over a switch of 100 GB/s each way, 1 us: the second link begins when the first packet, of 1,000 bytes, has come.
constexpr Time over_nvlink(std::int64_t bytes) { return (bytes + 1000) * 10 + microsecond; }

/// A dense layer and one with two experts and a shared one of so many columns; one sequence a replica.
TestJob job_of(std::uint32_t devices, int per_node, std::int64_t columns) {
  TestJob job(devices, mixture(2, 2), 2);
  job.machine = program::nodes_of(devices, per_node);
  job.machine.name = "test machine";
  job.machine.device.memory_bandwidth = BytesPerSecond{1'000'000'000'000'000};
  job.machine.device.memory_capacity = Bytes{1'000'000'000'000};
  job.workload.sequence = tokens;
  job.collectives.reduction = "free";
  job.cost = std::make_shared<PerFlops>(1);
  job.model.layer_kinds[1].shared_experts = 1;
  job.model.layer_kinds[1].shared_ffn_hidden = columns;
  return job;
}

Time saved(TestJob& job, const std::string& keys) {
  return simulated_time(job, keys) - simulated_time(job, keys + "overlap_shared_experts = true\n");
}

}  // namespace

TEST_CASE("halves of a shared expert and all-to-alls beside them take as long as the longer one") {
  // All four all-to-alls of an iteration, there and back, forward and backward: a device has two copies of its tokens
  // in 2 B a number and sends half of that to the other one.
  const Time all_to_all = over_nvlink(tokens * 2 * hidden * 2 / 2);  // 2.32 us
  const auto product = [](std::int64_t columns) { return Time{2} * tokens * hidden * columns; };
  // 8 columns: a half takes 1.05 us forward, twice that backward, so all six products are hidden.
  TestJob narrow = job_of(2, 2, 8);
  REQUIRE(2 * product(8) < all_to_all);
  CHECK(saved(narrow, "expert_parallel = 2\n") == 6 * product(8));
  // 64 columns: each half takes longer than an all-to-all, which is hidden then.
  TestJob wide = job_of(2, 2, 64);
  REQUIRE(product(64) > all_to_all);
  CHECK(saved(wide, "expert_parallel = 2\n") == 4 * all_to_all);
  // 16 columns: forward halves are shorter, backward halves longer.
  TestJob between = job_of(2, 2, 16);
  CHECK(saved(between, "expert_parallel = 2\n") == 2 * product(16) + 2 * all_to_all);
  // Without tokens on their way there is nothing to run beside: both streams compute in turn.
  CHECK(saved(wide, "expert_parallel = 1\n") == 0);
  // Recomputation runs the forward pass once more.
  CHECK(saved(narrow, "expert_parallel = 2\nrecomputation = \"full\"\n") == 8 * product(8));
  // Weight gradients that are put apart are beside nothing.
  CHECK(saved(narrow, "expert_parallel = 2\nschedule = \"zb-h1\"\n") == 4 * product(8));
}

TEST_CASE("tensor ranks gather and sum for shared experts beside the others, and keep what they gathered") {
  // Two nodes of two tensor ranks: tokens go to experts over NICs, all else over NVLink. With 8 columns, 4 a rank, all
  // that a shared expert does is shorter than an all-to-all of 10 GB/s and 5 us.
  TestJob job = job_of(4, 2, 8);
  const std::string cut = "tensor = 2\nsequence_parallel = true\nexpert_parallel = 2\n";
  const Time product = Time{2} * tokens * hidden * 4;
  const Time exchange = over_nvlink(tokens * hidden * 2 / 2);  // half of an activation to the neighbour
  REQUIRE(2 * product + 2 * exchange < 6 * microsecond);
  // Forward one all-gather and one reduce-scatter; backward the same, and no gather for the weight gradient: what was
  // gathered is kept, an activation of 2 B a number.
  CHECK(saved(job, cut) == 6 * product + 5 * exchange);
  const auto kept = [&](const std::string& more) {
    return at_peak(job.plan(cut + more).program, 0, MemoryCategory::activations);
  };
  CHECK(kept("overlap_shared_experts = true\n") - kept("") == 2 * tokens * hidden);
  // Without sequence parallelism the input is the router's, whole and there anyway.
  const std::string whole = "tensor = 2\nexpert_parallel = 2\n";
  const auto of_whole = [&](const std::string& more) {
    return at_peak(job.plan(whole + more).program, 0, MemoryCategory::activations);
  };
  CHECK(of_whole("overlap_shared_experts = true\n") == of_whole(""));
}

TEST_CASE("the search knows shared experts beside the others, and finds the faster way") {
  TestJob job = job_of(2, 2, 64);
  job.evaluator = sim::make_evaluator(job.machine, *job.cost);
  const auto table = config::parse_toml("expert_parallel = [1, 2]\noverlap_shared_experts = \"any\"\n", "strategy.toml",
                                        job.diagnostics);
  const auto evaluations = job.evaluations();
  const Searched found = megatron::kind().search(*table, job.job_with(evaluations));
  REQUIRE(found.report);
  CHECK(found.report->found.judged.size() == 4);
  Time best = 0;
  for (const std::string experts : {"1", "2"})
    for (const std::string beside : {"false", "true"}) {
      const Time time =
          simulated_time(job, "expert_parallel = " + experts + "\noverlap_shared_experts = " + beside + "\n");
      if (best == 0 || time < best) best = time;
    }
  CHECK(found.report->found.ranked.front().evaluation.time == best);
}

}  // namespace tessera::strategy::shared_beside
