// Partitions of BERT over the chips of a package: seconds by phase of a sample, for each template, and of what judges
// it; and what load a template gives away, on graphs small enough to look at all of their partitions.
#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "strategy/mcm/analytic.hpp"
#include "strategy/mcm/judge.hpp"
#include "strategy/mcm/partitioner.hpp"
#include "strategy/mcm/verifier.hpp"
#include "support/bench_main.hpp"
#include "support/stopwatch.hpp"
#include "tessera/base/error.hpp"
#include "tessera/experiment/experiment.hpp"
#include "tessera/sim/simulate.hpp"

using namespace tessera;
using namespace tessera::strategy::mcm;

namespace {

struct BenchOptions {
  std::uint64_t samples = 1000, seed = 1;
  std::uint32_t layers = 24, chips = 36;
  std::uint32_t large_layers = 96, large_chips = 144;
  std::uint64_t small_graphs = 100;
  std::string experiment = "inputs/experiments/mcm/bert.toml";
};

/// A problem with the times of its nodes.
struct TimedGraph {
  Problem problem;
  std::vector<double> times;
};

/// What an experiment of strategy mcm asks, and what answers it.
struct Asked {
  std::unique_ptr<experiment::Experiment> experiment;
  std::unique_ptr<program::Evaluator> evaluator;
  std::unique_ptr<Communicator> comm = make_serial_communicator();
  program::search::Memo memo;
  std::unique_ptr<program::search::Evaluations> evaluations;

  Asked(const std::string& file, std::uint32_t layers, std::uint32_t chips) {
    config::Diagnostics diagnostics;
    const auto source =
        experiment::load(file,
                         {experiment::parse_setting(fmt::format("model.layers={}", layers)),
                          experiment::parse_setting("model.published_parameters=0"),
                          experiment::parse_setting("machine.device.memory_capacity=100 GB"),
                          experiment::parse_setting(fmt::format("machine.topology.chiplets={}", chips))},
                         experiment::input_folders(), diagnostics);
    diagnostics.throw_if_errors();
    experiment = experiment::build(*source.table, diagnostics);
    diagnostics.throw_if_errors();
    evaluator = sim::make_evaluator(experiment->machine, *experiment->cost);
    evaluations = std::make_unique<program::search::Evaluations>(*evaluator, *comm, memo);
  }
  [[nodiscard]] strategy::Job job() const {
    return {experiment->machine,     experiment->workload, *experiment->cost,
            experiment->collectives, *evaluations,         &*experiment->model};
  }
  [[nodiscard]] TimedGraph graph() const {
    const Package package = make_package(job(), 0);
    TimedGraph graph{package.reduced.problem, {}};
    for (const Time time : solved_times(package)) graph.times.push_back(static_cast<double>(time));
    return graph;
  }
};

/// Milliseconds of processor time a sample.
struct Times {
  std::vector<double> all;
  [[nodiscard]] double median() { return at(all.size() / 2); }
  [[nodiscard]] double most() { return at(all.size() - 1); }

 private:
  [[nodiscard]] double at(std::size_t rank) {
    std::sort(all.begin(), all.end());
    return all[rank];
  }
};

/// The slowest chip's time over the mean of all chips of the package.
double load_of(const TimedGraph& graph, const Partition& partition) {
  std::vector<double> chips(graph.problem.chips, 0);
  double all = 0;
  for (std::size_t node = 0; node < partition.size(); ++node) {
    chips[partition[node]] += graph.times[node];
    all += graph.times[node];
  }
  return *std::max_element(chips.begin(), chips.end()) / all * graph.problem.chips;
}

void print_row(const std::string& what, Times& times, double load, const Effort& effort) {
  fmt::print("{:<36}{:>10.3f}{:>10.3f}{:>10.2f}{:>10.2f}{:>10.2f}\n", what, times.median(), times.most(), load,
             static_cast<double>(effort.failures) / static_cast<double>(times.all.size()),
             static_cast<double>(effort.restarts) / static_cast<double>(times.all.size()));
}

void verify(const Problem& problem, const Partition& partition) {
  if (const auto violation = find_violation(problem, partition)) throw InternalError(*violation);
}

/// How long the partitioner takes for partition after partition. `prepare` an index, which is not timed, then `make`.
template <class Prepare, class Make>
Times timed(const std::string& what, const TimedGraph& graph, Partitioner& partitioner, std::uint64_t samples,
            const Prepare& prepare, const Make& make) {
  Times times;
  double load = std::numeric_limits<double>::max();
  for (std::uint64_t index = 0; index < samples; ++index) {
    prepare(index);
    const bench::Stopwatch watch;
    const Partition& partition = make(index);
    times.all.push_back(watch.cpu_seconds() * 1e3);
    verify(graph.problem, partition);
    load = std::min(load, load_of(graph, partition));
  }
  print_row(what, times, load, partitioner.effort());
  return times;
}

Times sample(const std::string& what, const TimedGraph& graph, const std::string& name,
             const Distribution& distribution, std::uint64_t samples, std::uint64_t seed) {
  Partitioner partitioner(graph.problem, name);
  return timed(
      what, graph, partitioner, samples, [](std::uint64_t) {},
      [&](std::uint64_t index) -> const Partition& { return partitioner.sample(distribution, seed, index); });
}

// Candidates that are drawn from the prior without any rule, as from a policy.
Times fix(const std::string& what, const TimedGraph& graph, const std::string& name, const Distribution& distribution,
          std::uint64_t samples, std::uint64_t seed) {
  Partitioner partitioner(graph.problem, name);
  const ChipSet all = ChipSet::range(0, graph.problem.chips - 1);
  Partition candidate(graph.problem.nodes);
  const auto draw = [&](std::uint64_t index) {
    const KeyedRandom random(seed, random_stream("mcm bench candidate") + index);
    for (NodeId node = 0; node < graph.problem.nodes; ++node)
      candidate[node] = distribution.draw(node, all, random.bits(node));
  };
  return timed(what, graph, partitioner, samples, draw,
               [&](std::uint64_t index) -> const Partition& { return partitioner.fix(candidate, seed, index); });
}

double verify_ms(const TimedGraph& graph, std::uint64_t seed) {
  Partitioner partitioner(graph.problem, "chain");
  const Partition& partition = partitioner.sample(Distribution::uniform(), seed, 0);
  constexpr int times = 100;
  const bench::Stopwatch watch;
  for (int i = 0; i < times; ++i) verify(graph.problem, partition);
  return watch.cpu_seconds() * 1e3 / times;
}

// 6 to 9 nodes on 5 chips, each behind one or two of the last four, times from 1 to 2.
TimedGraph small_graph(std::uint64_t index) {
  const KeyedRandom random(index, random_stream("mcm bench small graph"));
  TimedGraph graph;
  graph.problem = {6 + static_cast<std::uint32_t>(random.below(0, 4)), 5, {}};
  std::uint64_t drawn = 1;
  for (NodeId node = 0; node < graph.problem.nodes; ++node) {
    graph.times.push_back(1 + random.real(drawn++));
    for (std::uint64_t i = 0; node > 0 && i < 1 + random.below(drawn, 2); ++i)
      graph.problem.edges.push_back({node - 1 - static_cast<NodeId>(random.below(++drawn, std::min(node, 4U))), node});
    ++drawn;
  }
  return graph;
}

double best_load(const TimedGraph& graph, const std::string& name) {
  const Wiring wiring = make_wiring(graph.problem);
  const auto solver = make_solver(name, wiring);
  double best = std::numeric_limits<double>::max();
  enumerate(*solver, wiring, [&](const Partition& partition) { best = std::min(best, load_of(graph, partition)); });
  return best;
}

/// How much more than the best of all valid partitions a template's best loads the slowest chip.
struct Given {
  double mean = 0, most = 0;  ///< in percent
  std::uint64_t graphs = 0;   ///< that lose at all
};

Given given_away(const std::string& name, std::uint64_t graphs) {
  Given given;
  for (std::uint64_t index = 0; index < graphs; ++index) {
    const TimedGraph graph = small_graph(index);
    const double percent = 100 * (best_load(graph, name) / best_load(graph, "complete") - 1);
    given.mean += percent / static_cast<double>(graphs);
    given.most = std::max(given.most, percent);
    given.graphs += percent > 1e-9 ? 1U : 0U;
  }
  fmt::print("{:<36}{:>9.1f}%{:>9.1f}%{:>10} of {}\n", name, given.mean, given.most, given.graphs, graphs);
  return given;
}

/// Milliseconds of processor time that judging takes, of samples: by the analytical model, and by the package.
Times judged(const std::string& what, const Asked& asked, EvaluatorKind evaluator, std::uint64_t samples,
             std::uint64_t seed) {
  const strategy::Job job = asked.job();
  const Package package = make_package(job, 0);
  Options options;
  options.evaluator = evaluator;
  Partitioner partitioner(package.reduced.problem, "chain");
  Times times;
  Time best = never;
  for (std::uint64_t index = 0; index < samples; ++index) {
    const Partition partition = partitioner.sample(Distribution::uniform(), seed, index);
    const bench::Stopwatch watch;
    best = std::min(best, judge(package, {partition}, options, job).front().time);
    times.all.push_back(watch.cpu_seconds() * 1e3);
  }
  fmt::print("{:<36}{:>10.3f}{:>10.3f}{:>10.2f}\n", what, times.median(), times.most(),
             static_cast<double>(best) / static_cast<double>(least_interval(package)));
  return times;
}

void run(const BenchOptions& options) {
  const bench::Stopwatch whole;
  const Asked asked(options.experiment, options.layers, options.chips);
  const TimedGraph graph = asked.graph();
  const TimedGraph large = Asked(options.experiment, options.large_layers, options.large_chips).graph();
  const Distribution uniform = Distribution::uniform();
  const Distribution prior = Distribution::normal(centres_by_time(graph.problem, graph.times), 1, options.chips);
  const std::uint64_t few = std::max<std::uint64_t>(options.samples / 10, 1);

  fmt::print("{} nodes, {} edges on {} chips; {} nodes on {} chips\n", graph.problem.nodes, graph.problem.edges.size(),
             options.chips, large.problem.nodes, options.large_chips);
  fmt::print("{:<36}{:>10}{:>10}{:>10}{:>10}{:>10}\n", "ms a sample", "median", "most", "best load", "failures",
             "restarts");
  Times chain = sample("chain, uniform", graph, "chain", uniform, options.samples, options.seed);
  sample("chain, sigma 1", graph, "chain", prior, options.samples, options.seed);
  Times levels = sample("levels, uniform", graph, "levels", uniform, options.samples, options.seed);
  sample("levels, sigma 1", graph, "levels", prior, options.samples, options.seed);
  Times fixed = fix("chain, FIX of sigma 1", graph, "chain", prior, options.samples, options.seed);
  fix("levels, FIX of sigma 1", graph, "levels", prior, options.samples, options.seed);
  Times big = sample("chain, uniform, large", large, "chain", uniform, few, options.seed);
  sample("levels, uniform, large", large, "levels", uniform, few, options.seed);
  const double verify = verify_ms(graph, options.seed);
  fmt::print("{:<36}{:>10.3f}\n", "verifier", verify);
  Times analytic = judged("analytical model", asked, EvaluatorKind::analytic, options.samples, options.seed);
  Times package = judged("package", asked, EvaluatorKind::package, few, options.seed);

  fmt::print("\n{:<36}{:>10}{:>10}{:>10}\n", "best load above that of all valid", "mean", "most", "graphs");
  const Given chain_given = given_away("chain", options.small_graphs);
  const Given levels_given = given_away("levels", options.small_graphs);
  const double seconds = whole.wall_seconds();
  fmt::print(
      "summary: bench=mcm events={} seconds={:.3f} events_per_second={:.4g} chain_ms={:.3f} chain_most_ms={:.3f} "
      "levels_ms={:.3f} levels_most_ms={:.3f} fix_ms={:.3f} large_ms={:.3f} large_most_ms={:.3f} verify_ms={:.3f} "
      "analytic_ms={:.4f} package_ms={:.3f} package_most_ms={:.3f} "
      "chain_given_pct={:.2f} levels_given_pct={:.2f}\n",
      options.samples, seconds, 1e3 / chain.median(), chain.median(), chain.most(), levels.median(), levels.most(),
      fixed.median(), big.median(), big.most(), verify, analytic.median(), package.median(), package.most(),
      chain_given.mean, levels_given.mean);
}

}  // namespace

int main(int argc, char** argv) {
  BenchOptions options;
  return bench::main_of("Sampling partitions over the chips of a package.",
                        {{"--samples", &options.samples, "of each kind; a tenth of it on the large graph", true},
                         {"--seed", &options.seed, "of all draws"},
                         {"experiment", &options.experiment, "of strategy mcm, with a transformer"},
                         {"--layers", &options.layers, "of the transformer"},
                         {"--chips", &options.chips, "of the package"},
                         {"--small-graphs", &options.small_graphs, "on which templates are compared"}},
                        argc, argv, [&] { run(options); });
}
