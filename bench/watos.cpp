// WATOS's genetic search alone: how long its generations take on one core, and how good its best individual gets.
#include "tessera/strategy/watos/watos.hpp"
#include "support/bench_main.hpp"

#include <fmt/core.h>

#include <chrono>
#include <cmath>

#include "strategy/watos/candidates.hpp"
#include "strategy/watos/genome.hpp"
#include "strategy/watos/steps.hpp"
#include "tessera/base/error.hpp"
#include "tessera/experiment/experiment.hpp"
#include "tessera/program/search/genetic.hpp"
#include "tessera/sim/simulate.hpp"
#include "tessera/strategy/megatron/megatron.hpp"

using namespace tessera;
using namespace tessera::strategy;

namespace {

struct Asked {
  std::string file = "inputs/experiments/watos/gpt-175b.toml";
  std::string fitness = "product";
  int tensor = 4, pipeline = 14, population = 100, generations = 100, times = 10;
  double elitism = 0.5;
};

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

std::unique_ptr<experiment::Experiment> build(const Asked& asked, std::shared_ptr<config::Table>& table) {
  config::Diagnostics diagnostics;
  const auto source = experiment::load(asked.file,
                                       {experiment::parse_setting(fmt::format("strategy.tensor={}", asked.tensor)),
                                        experiment::parse_setting(fmt::format("strategy.pipeline={}", asked.pipeline))},
                                       experiment::input_folders(), diagnostics);
  diagnostics.throw_if_errors();
  auto built = experiment::build(*source.table, diagnostics);
  diagnostics.throw_if_errors();
  table = source.table;
  return built;
}

void print(const Asked& asked, const watos::Candidate& candidate, double seconds, double gain) {
  const double searches = asked.times, evaluations = searches * asked.population * (asked.generations + 1.0);
  fmt::print("{}: {} places, {} sets, {} generations of {}\n", candidate.text(), candidate.named.problem.places.size(),
             candidate.named.problem.sets.size(), asked.generations, asked.population);
  fmt::print("{:<28}{:>10.1f} ms\n{:<28}{:>10.3g} a second\n", "one search", 1e3 * seconds / searches, "evaluations",
             evaluations / seconds);
  fmt::print("{:<28}{:>10.4f} of the start\n", "best fitness, mean", gain / searches);
  fmt::print(
      "summary: bench=watos events={} seconds={:.4f} events_per_second={:.4g} search_seconds={:.4f} fitness={:.5f}\n",
      evaluations, seconds, evaluations / seconds, seconds / searches, gain / searches);
}

void run(const Asked& asked) {
  std::shared_ptr<config::Table> table;
  const auto experiment = build(asked, table);
  const auto evaluator = sim::make_evaluator(experiment->machine, *experiment->cost);
  program::search::Memo memo;
  const auto comm = make_serial_communicator();
  const program::search::Evaluations evaluations(*evaluator, *comm, memo);
  const Job job{experiment->machine,     experiment->workload, *experiment->cost,
                experiment->collectives, evaluations,          &*experiment->model};
  const watos::Health health = watos::probed(job);
  const StrategyKind megatron = megatron::kind();
  const watos::Options options;
  const watos::Question question{megatron, *table->find("strategy")->table(), options, job, health};
  watos::Pricing pricing(job, health);
  const std::vector<watos::Candidate> candidates = all_candidates(question, pricing);
  if (candidates.empty() || !candidates.front().pruned.empty())
    throw InfeasibleError(candidates.empty() ? "there is no such cut" : candidates.front().pruned);
  const watos::Candidate& candidate = candidates.front();
  const watos::Fitness fitness = asked.fitness == "time" ? watos::Fitness::time : watos::Fitness::product;
  const auto start = placed(candidate.named.problem, watos::Judge(candidate.named.problem, watos::Fitness::time));
  if (!start) throw InfeasibleError("nothing that stages run again makes it fit");
  double seconds = 0, gain = 0;
  for (int seed = 1; seed <= asked.times; ++seed) {
    const watos::Judge judge(candidate.named.problem, fitness);
    const watos::Genome first(judge, *start);
    program::search::GeneticOptions genetic;
    genetic.seed = static_cast<std::uint64_t>(seed);
    genetic.population = asked.population;
    genetic.generations = asked.generations;
    genetic.elitism = asked.elitism;
    const auto begin = std::chrono::steady_clock::now();
    const auto found = program::search::breed(
        first, [](const watos::Genome& one) { return one.fitness(); }, genetic);
    seconds += seconds_since(begin);
    gain += static_cast<double>(found.fitness) / static_cast<double>(first.fitness());
  }
  print(asked, candidate, seconds, gain);
}

}  // namespace

int main(int argc, char** argv) {
  Asked asked;
  return bench::main_of("WATOS's genetic search over sets, places and pairs of one cut.",
                        {{"experiment", &asked.file, "an experiment of strategy watos"},
                         {"--tensor", &asked.tensor, "tensor-parallel ranks"},
                         {"--pipeline", &asked.pipeline, "stages"},
                         {"--population", &asked.population, "individuals", true},
                         {"--generations", &asked.generations, "of the search"},
                         {"--elitism", &asked.elitism, "omega"},
                         {"--fitness", &asked.fitness, "what is to be small", false, {"product", "time"}},
                         {"--times", &asked.times, "searches, a seed each", true}},
                        argc, argv, [&] { run(asked); });
}
