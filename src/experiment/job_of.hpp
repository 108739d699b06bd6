// What a strategy's functions are handed.
#pragma once

#include "tessera/experiment/experiment.hpp"
#include "tessera/sim/simulate.hpp"
#include "tree.hpp"

namespace tessera::experiment {

/// A job, and what of it nobody else has. The experiment, `comm` and `memo` outlive it.
class JobOf {
 public:
  JobOf(const Experiment& experiment, Communicator& comm, program::search::Memo& memo, const SearchOptions& options,
        bool is_searched_next = false)
      : evaluator_(sim::make_evaluator(experiment.machine, *experiment.cost, watch(options))),
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
  sim::Watch watch(const SearchOptions& options) {
    sim::Watch watch{options.hooks.interrupted, {}, {}};
    if (options.limits.is_timed()) watch.is_over = [limits = options.limits] { return limits.is_over(); };
    if (options.hooks.progress) watch.progress = [this](Time reached) { evaluations_.has_simulated(reached); };
    return watch;
  }

  std::unique_ptr<program::Evaluator> evaluator_;
  program::search::Evaluations evaluations_;
  strategy::Job job_;
};

}  // namespace tessera::experiment
