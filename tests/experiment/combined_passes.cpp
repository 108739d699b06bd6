// Forward passes layer by layer beside backward passes of other micro-batches, with the simulator behind them.
#include <catch2/catch.hpp>

#include "timed_plans.hpp"

namespace tessera::strategy::combined_passes {
namespace {

constexpr std::int64_t tokens = 128, hidden = 512, width = 4 * hidden;

/// A dense layer and one with two experts on two devices, so many micro-batches of one sequence each.
TestJob job_of(std::int64_t flops_a_picosecond, std::int64_t micro_batches) {
  TestJob job(2, mixture(2, 2), 2 * micro_batches);
  job.machine.device.memory_bandwidth = BytesPerSecond{1'000'000'000'000'000};
  job.workload.sequence = tokens;
  job.cost = std::make_shared<PerFlops>(flops_a_picosecond);
  return job;
}

Time time_of(TestJob& job, const std::string& keys) { return simulated_time(job, "expert_parallel = 2\n" + keys); }

}  // namespace

TEST_CASE("all-to-alls of one micro-batch and computing of another one beside them take as long as the longer one") {
  // Two copies of a device's tokens in 2 B a number, half of them to the other one: over a switch of 100 GB/s, 1 us,
  // whose second link begins when the first packet, of 1,000 bytes, has come.
  const Time all_to_all = (tokens * 2 * hidden * 2 / 2 + 1000) * 10 + 1'000'000;  // 2.32 us
  // FLOP of the dense layer forward: 4 h^2 weights and scores and sums of T^2; 8 h^2 weights. Backward twice that.
  const std::int64_t attention = 2 * tokens * 4 * hidden * hidden + 2 * 2 * tokens * tokens * hidden;
  const std::int64_t mlp = 2 * tokens * 2 * hidden * width;
  // The backward pass of the layer with experts is beside the forward pass of the dense one, and the other way round.
  // Three of four micro-batches have such a pass: all four all-to-alls of it are hidden where computing is slow.
  TestJob slow = job_of(1, 4);
  REQUIRE(attention > all_to_all);
  const std::string combined = "schedule = \"combined-1f1b\"\n";
  CHECK(time_of(slow, "") - time_of(slow, combined) == 3 * 4 * all_to_all);
  // Where it is fast all of the dense layer is hidden.
  TestJob fast = job_of(1024, 4);
  REQUIRE(2 * mlp / 1024 < all_to_all);
  CHECK(time_of(fast, "") - time_of(fast, combined) == 3 * 3 * (attention + mlp) / 1024);
  // So are weight gradients of the experts, half of their backward pass: of a device's two tokens in all for each of
  // its own ones.
  REQUIRE((mlp + 2 * mlp) / 1024 < all_to_all);
  CHECK(time_of(fast, combined) - time_of(fast, combined + "delay_weight_gradients = true\n") == 3 * 2 * mlp / 1024);
  // One micro-batch has no other one.
  TestJob one = job_of(1, 1);
  CHECK(time_of(one, "") == time_of(one, combined));
}

}  // namespace tessera::strategy::combined_passes
