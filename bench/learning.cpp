// How long a policy takes to draw partitions of a graph and to learn from them: an update is 40 gradient steps.
#include <fmt/core.h>

#include "strategy/mcm/analytic.hpp"
#include "strategy/mcm/learning/policy_search.hpp"
#include "support/bench_main.hpp"
#include "support/stopwatch.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/processor.hpp"
#include "tessera/experiment/experiment.hpp"
#include "tessera/sim/simulate.hpp"

using namespace tessera;
using namespace tessera::strategy::mcm;

namespace {

/// Seconds of processor time.
struct Seconds {
  double draw = 0, update = 0;
};

Seconds timed(const Question& question, const learning::Kernels<float>& kernels, std::int64_t updates) {
  const LearningOptions& options = question.options.learning;
  Learned graph(question);
  Learner learner(shape_for(graph.input, nullptr, false), options, kernels, question.seed);
  Policy policy(learner.layout(), learner.kernels());
  Seconds seconds;
  for (std::int64_t update = 0; update < updates; ++update) {
    const bench::Stopwatch drawing;
    RolloutSet drawn = policy.draw(graph, learner.parameters, options, update * options.rollouts, options.rollouts);
    seconds.draw += drawing.cpu_seconds() / static_cast<double>(updates);
    judge(graph, drawn.rollouts);
    const bench::Stopwatch learning;
    static_cast<void>(learner.update(
        {&graph, &drawn.rollouts, advantages_of(drawn, options.baseline), worth_of(drawn).reward}, update));
    seconds.update += learning.cpu_seconds() / static_cast<double>(updates);
  }
  const auto steps = static_cast<double>(options.epochs * options.mini_batches);
  fmt::print("{:<12}{:>20.2f}{:>20.2f}{:>20.2f}\n", kernels.name,
             1e3 * seconds.draw / static_cast<double>(options.rollouts), 1e3 * seconds.update / steps, seconds.update);
  return seconds;
}

void run(const std::string& file, std::int64_t updates, std::int64_t iterations) {
  config::Diagnostics diagnostics;
  const auto source = experiment::load(file, {}, experiment::input_folders(), diagnostics);
  diagnostics.throw_if_errors();
  const auto experiment = experiment::build(*source.table, diagnostics);
  diagnostics.throw_if_errors();
  const auto evaluator = sim::make_evaluator(experiment->machine, *experiment->cost);
  const auto comm = make_serial_communicator();
  program::search::Memo memo;
  const program::search::Evaluations evaluations(*evaluator, *comm, memo);
  const strategy::Job job{experiment->machine,
                          experiment->workload,
                          *experiment->cost,
                          experiment->collectives,
                          evaluations,
                          experiment->model ? &*experiment->model : nullptr,
                          1,
                          experiment->graph ? &*experiment->graph : nullptr};
  const Package package = make_package(job, 0);
  Options options;
  options.learning.iterations = iterations;
  const Question question{package, options, 1,
                          [&](const std::vector<Partition>& all) {
                            std::vector<program::Evaluation> judged;
                            for (const Partition& one : all)
                              judged.push_back({true, {}, analytic_interval(package, one)});
                            return judged;
                          },
                          program::Fidelity::estimate};
  fmt::print("{} nodes on {} chips\n{:<12}{:>20}{:>20}{:>20}\n", package.graph.nodes.size(), package.chips(), "kernels",
             "ms a sample drawn", "ms a gradient step", "s an update");
  const Seconds baseline = timed(question, learning::baseline_kernels<float>(), updates);
  const Seconds best = has_avx2() ? timed(question, learning::avx2_kernels(), updates) : baseline;
  fmt::print(
      "summary: bench=learning events={} seconds={:.3f} events_per_second={:.4g} update_s={:.3f} "
      "baseline_update_s={:.3f} draw_s={:.3f}\n",
      updates, best.update, 1 / best.update, best.update, baseline.update, best.draw);
}

}  // namespace

int main(int argc, char** argv) {
  std::string experiment = "inputs/experiments/mcm/bert.toml";
  std::int64_t updates = 3, iterations = 1;
  return bench::main_of("A policy that draws partitions over the chips of a package, and learns from them.",
                        {{"experiment", &experiment, "of strategy mcm"},
                         {"--updates", &updates, "how many are timed", true},
                         {"--iterations", &iterations, "T of Eq. 7", true}},
                        argc, argv, [&] { run(experiment, updates, iterations); });
}
