// The simulator as searches and profilers see it.
#include <algorithm>

#include "tessera/base/error.hpp"
#include "tessera/sim/simulate.hpp"

namespace tessera::sim {
namespace {

class SerialEvaluator final : public program::Evaluator {
 public:
  SerialEvaluator(const machine::Machine& machine, const workload::CostModel& cost, std::function<bool()> interrupted)
      : machine_(machine), cost_(cost) {
    options_.run.interrupted = std::move(interrupted);
  }

  program::Evaluation evaluate(const program::Program& program) override {
    const auto comm = make_serial_communicator();
    try {
      const SimulationResult result = simulate(machine_, program, cost_, *comm, options_);
      program::Evaluation evaluation{true, {}, result.results.iteration_time, 0};
      for (const results::DeviceRow& row : result.results.device_rows) {
        evaluation.peak_memory = std::max(evaluation.peak_memory, row.peak_memory);
      }
      return evaluation;
    } catch (const InfeasibleError& error) {
      return {false, error.what(), 0, 0};
    }
  }

 private:
  const machine::Machine& machine_;
  const workload::CostModel& cost_;
  SimulationOptions options_;
};

}  // namespace

std::unique_ptr<program::Evaluator> make_evaluator(const machine::Machine& machine, const workload::CostModel& cost,
                                                   std::function<bool()> interrupted) {
  return std::make_unique<SerialEvaluator>(machine, cost, std::move(interrupted));
}

}  // namespace tessera::sim
