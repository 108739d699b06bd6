#include "judge.hpp"

#include "analytic.hpp"
#include "package_program.hpp"

namespace tessera::strategy::mcm {
namespace {

program::Evaluation analytic(const Package& package, const Partition& partition, Objective objective) {
  program::Evaluation evaluation{true, {}, 0};
  evaluation.interval = analytic_interval(package, partition);
  evaluation.time = analytic_cost(package, partition, objective);
  return evaluation;
}

}  // namespace

program::Program program_of(const Package& package, const Partition& partition, const Options& options,
                            const Job& job) {
  const std::int64_t inputs = options.objective == Objective::latency ? 1 : options.inputs;
  return package_program(package, chip_work(package, partition, options.pipeline()), empty_program(job), inputs);
}

std::vector<program::Evaluation> judge(const Package& package, const std::vector<Partition>& partitions,
                                       const Options& options, const Job& job) {
  std::vector<program::Evaluation> evaluations;
  if (options.evaluator == EvaluatorKind::analytic) {
    for (const Partition& partition : partitions)
      evaluations.push_back(analytic(package, partition, options.objective));
    return evaluations;
  }
  evaluations = job.evaluations.all(partitions.size(),
                                    [&](std::size_t i) { return program_of(package, partitions[i], options, job); });
  // With one input there is no interval: its own time counts. What a run may be told does not help a search.
  for (program::Evaluation& one : evaluations) {
    one.reason = one.reason.substr(0, one.reason.find("; --"));
    if (options.objective == Objective::throughput && one.interval > 0) one.time = one.interval;
  }
  return evaluations;
}

}  // namespace tessera::strategy::mcm
