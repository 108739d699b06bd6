// What a strategy's functions are handed.
#pragma once

#include "tessera/experiment/experiment.hpp"
#include "tessera/sim/simulate.hpp"
#include "tree.hpp"

namespace tessera::experiment {

/// A job, and what of it nobody else has. The experiment, `comm`, `memo` and `fastest` outlive it.
/// `fastest`: what takes the fastest plan that this rank simulates alone; null: nobody wants it.
class JobOf {
 public:
  JobOf(const Experiment& experiment, Communicator& comm, program::search::Memo& memo, const SearchOptions& options,
        bool is_searched_next = false, std::optional<sim::Simulated>* fastest = nullptr)
      : evaluator_(sim::make_evaluator(experiment.machine, *experiment.cost, watch(options, fastest))),
        evaluations_(*evaluator_, comm, memo, options.hooks, options.limits),
        job_{experiment.machine,
             experiment.workload,
             *experiment.cost,
             experiment.collectives,
             evaluations_,
             experiment.model ? &*experiment.model : nullptr,
             static_cast<std::uint64_t>(experiment.simulation.seed),
             experiment.graph ? &*experiment.graph : nullptr,
             {experiment.files, tensors_of},
             options.limits,
             is_searched_next} {}
  JobOf(const JobOf&) = delete;
  JobOf& operator=(const JobOf&) = delete;
  [[nodiscard]] const strategy::Job& job() const { return job_; }

 private:
  sim::Watch watch(const SearchOptions& options, std::optional<sim::Simulated>* fastest) {
    sim::Watch watch{options.hooks.interrupted, {}, {}};
    if (options.limits.is_timed()) watch.is_over = [limits = options.limits] { return limits.is_over(); };
    if (options.hooks.progress) watch.progress = [this](Time reached) { evaluations_.has_simulated(reached); };
    if (fastest != nullptr)
      watch.simulated = [fastest](const program::Program& program, sim::SimulationResult result) {
        if (!*fastest || result.results.iteration_time < (*fastest)->result.results.iteration_time)
          *fastest = {program, std::move(result)};
      };
    return watch;
  }

  std::unique_ptr<program::Evaluator> evaluator_;
  program::search::Evaluations evaluations_;
  strategy::Job job_;
};

}  // namespace tessera::experiment
