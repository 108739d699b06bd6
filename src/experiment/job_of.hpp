// What a strategy's functions are handed.
#pragma once

#include "tessera/experiment/experiment.hpp"
#include "tessera/sim/simulate.hpp"

namespace tessera::experiment {

/// A job, and what of it nobody else has. The experiment, `comm` and `memo` outlive it.
class JobOf {
 public:
  JobOf(const Experiment& experiment, Communicator& comm, program::search::Memo& memo, const SearchOptions& options)
      : evaluator_(sim::make_evaluator(experiment.machine, *experiment.cost, options.hooks.interrupted)),
        evaluations_(*evaluator_, comm, memo, options.hooks),
        job_{experiment.machine,
             experiment.workload,
             *experiment.cost,
             experiment.collectives,
             evaluations_,
             experiment.model ? &*experiment.model : nullptr,
             static_cast<std::uint64_t>(experiment.simulation.seed),
             experiment.graph ? &*experiment.graph : nullptr,
             experiment.files,
             options.limits} {}
  [[nodiscard]] const strategy::Job& job() const { return job_; }

 private:
  std::unique_ptr<program::Evaluator> evaluator_;
  program::search::Evaluations evaluations_;
  strategy::Job job_;
};

}  // namespace tessera::experiment
