// Replicas of a small model on a ring, whose units are gathered and summed in times that are known by hand.
#pragma once

#include "strategy/jobs.hpp"
#include "tessera/sim/simulate.hpp"

namespace tessera::strategy {

/// A layer's forward pass takes so long, its backward pass twice that; nothing else takes time.
class PerLayer final : public workload::CostModel {
 public:
  explicit PerLayer(Time forward) : forward_(forward) {}
  Time time(const workload::Operator& op, const machine::DeviceSpec&) const override {
    if (op.name == "attention norm") return forward_;
    return op.name == "attention norm dgrad" ? 2 * forward_ : 0;
  }

 private:
  Time forward_;
};

inline constexpr Time us = 1'000'000;

// Four replicas on a ring of 1 GB/s, 1 ns a byte, and 1 us: S bytes are gathered, or reduced and scattered, in
// 3 (1 us + S / 4 ns). Units have 139,264, 49,984 (two layers) and 8,320 parameters; weights of 2 B, gradients of 4 B.
constexpr Time over_ring(std::int64_t bytes) { return 3 * (us + bytes / 4 * 1000); }
inline constexpr Time gE = over_ring(2 * 139'264), g = over_ring(2 * 49'984), gH = over_ring(2 * 8'320);
inline constexpr Time rE = over_ring(4 * 139'264), r = over_ring(4 * 49'984), rH = over_ring(4 * 8'320);
// The gradient norm goes one device on, then two: 4 B over three links in all.
inline constexpr Time norm = 3 * (us + 4000);

/// `hosts`: [[host]] tables.
inline TestJob ring_job(Time forward, std::int64_t micro_batches, const std::string& hosts = "") {
  TestJob job(4, gpt(2, 64, 4, 128), 4 * micro_batches);
  job.machine =
      program::machine_of("kind = \"ring\"\ndevices = 4\nbandwidth = \"1 GB/s\"\nlatency = \"1 us\"\n" + hosts);
  job.machine.device.memory_bandwidth = BytesPerSecond{1'000'000'000'000};
  job.machine.device.memory_capacity = Bytes{1'000'000'000};
  job.workload.sequence = 64;
  job.workload.datatype = "bf16";
  job.collectives.reduction = "free";
  job.cost = std::make_shared<PerLayer>(forward);
  return job;
}

inline sim::SimulationResult result_of(const TestJob& job, const Plan& plan, sim::Laws laws) {
  sim::SimulationOptions options;
  options.laws = laws;
  const auto alone = make_serial_communicator();
  return sim::simulate(job.machine, plan.program, *job.cost, *alone, options);
}

}  // namespace tessera::strategy
