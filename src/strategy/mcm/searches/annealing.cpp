// The paper's simulated annealing (section 5.1): each step gives some nodes another distribution over the chips, and
// the solver samples a partition from all of them.
#include <fmt/core.h>

#include <cmath>
#include <memory>

#include "sampling.hpp"

namespace tessera::strategy::mcm {
namespace {

/// What all candidates of a search share.
struct Sampler {
  const Question* question;
  Partitioner solver;
  std::uint64_t seed = 1;
  std::uint32_t nodes = 0, chips = 0;
  std::vector<float> prior;  // by node and chip
};

struct Drawn {
  std::shared_ptr<Sampler> sampler;
  std::vector<float> weights;
  Partition partition;
  std::string name = "annealing, the start";

  [[nodiscard]] Drawn neighbour(std::uint64_t key) const {
    Drawn other = *this;
    Draws draws(KeyedRandom(key, random_stream("mcm annealing")));
    const Options& rules = sampler->question->options;
    const std::uint32_t changed =
        std::max<std::uint32_t>(1, static_cast<std::uint32_t>(rules.annealing_nodes * sampler->nodes));
    for (std::uint32_t i = 0; i < changed; ++i) {
      const auto node = static_cast<std::size_t>(KeyedRandom::to_below(draws.next(), sampler->nodes));
      for (std::size_t chip = 0; chip < sampler->chips; ++chip) {
        // Exponential weights are uniform over all distributions, powers of them sharper; times what the search started
        // from.
        const double draw = (static_cast<double>(draws.next() >> 11U) + 0.5) * 0x1p-53;
        const std::size_t at = node * sampler->chips + chip;
        other.weights[at] =
            sampler->prior[at] * static_cast<float>(std::pow(-std::log(draw), rules.annealing_sharpness));
      }
    }
    other.draw(key);
    other.name = fmt::format("annealing {:016x}", key);
    return other;
  }
  void draw(std::uint64_t key) {
    partition =
        sampler->solver.sample(Distribution::weights(weights, sampler->nodes, sampler->chips), sampler->seed, key);
  }
  [[nodiscard]] std::string text() const { return name; }
  [[nodiscard]] Time foretold() const { return sampler->question->foretell(partition); }
};

std::vector<float> prior_weights(const Question& question) {
  std::vector<float> weights;
  for (const double log : prior_logs(question)) weights.push_back(static_cast<float>(std::exp(log)));
  return weights;
}

}  // namespace

Found search_annealing(const Question& question) {
  const Problem& problem = question.package.reduced.problem;
  auto sampler = std::make_shared<Sampler>(Sampler{&question, make_partitioner(question), question.seed, problem.nodes,
                                                   problem.chips, prior_weights(question)});
  Drawn start{sampler, sampler->prior, {}};
  start.draw(0);
  program::search::AnnealingOptions options;
  options.seed = question.seed;
  options.budget.evaluations = question.options.samples;
  options.chains = question.options.annealing_chains;
  options.first = question.options.annealing_first;
  options.last = question.options.annealing_last;
  options.fidelity = question.fidelity;
  const auto evaluate = [&](const std::vector<Drawn>& all) {
    std::vector<Partition> partitions;
    for (const Drawn& one : all) partitions.push_back(one.partition);
    return question.judge(partitions);
  };
  auto outcome = program::search::anneal<Drawn>(start, evaluate, options);
  return {std::move(outcome.best.partition), std::move(outcome.evaluation), std::move(outcome.table)};
}

}  // namespace tessera::strategy::mcm
