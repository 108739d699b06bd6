// What plans of small jobs take, simulated, where computing takes what its FLOP say.
#pragma once

#include <catch2/catch.hpp>

#include "strategy/jobs.hpp"
#include "tessera/sim/simulate.hpp"

namespace tessera::strategy {

/// 1 ps for so many FLOP: copies, norms and updates take no time.
class PerFlops final : public workload::CostModel {
 public:
  explicit PerFlops(std::int64_t flops) : flops_(flops) {}
  Time time(const workload::Operator& op, const machine::DeviceSpec&) const override { return op.flops / flops_; }

 private:
  std::int64_t flops_;
};

/// ps of an iteration of the plan that these keys make, which is sound.
inline Time simulated_time(TestJob& job, const std::string& keys) {
  const Plan plan = sound_plan(job, keys);
  const auto alone = make_serial_communicator();
  const program::Evaluation found =
      sim::make_evaluator(job.machine, *job.cost)->evaluate(plan.program, program::Fidelity::simulated, *alone);
  REQUIRE(found.feasible);
  return found.time;
}

}  // namespace tessera::strategy
