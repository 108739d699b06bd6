// The paper's random search (section 5.1): every sample from the same distribution, by the solver in SAMPLE mode.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "sampling.hpp"

namespace tessera::strategy::mcm {
namespace {

constexpr std::int64_t samples_together = 32;  // evaluated over all ranks; results do not depend on it

constexpr double most_exponent = 60;

}  // namespace

std::vector<double> centres(const Question& question) {
  std::vector<double> times;
  for (const Time time : solved_times(question.package)) times.push_back(static_cast<double>(time));
  std::vector<double> middles = centres_by_time(question.package.reduced.problem, times);
  if (has_equal_speeds(question.package)) return middles;
  for (double& middle : middles)
    middle = place_by_speed(question.package, (middle + 0.5) / question.package.chips()) - 0.5;
  return middles;
}

Distribution prior(const Question& question) {
  if (question.options.sigma <= 0) return Distribution::uniform();
  return Distribution::normal(centres(question), question.options.sigma, question.package.chips());
}

std::vector<float> prior_weights(const Question& question) {
  const Problem& problem = question.package.reduced.problem;
  std::vector<float> weights(std::size_t{problem.nodes} * problem.chips, 1.0F);
  const double sigma = question.options.sigma;
  if (sigma <= 0) return weights;
  const std::vector<double> middles = centres(question);
  for (std::size_t node = 0; node < problem.nodes; ++node) {
    for (std::size_t chip = 0; chip < problem.chips; ++chip) {
      const double away = (static_cast<double>(chip) - middles[node]) / sigma;
      const double exponent = away * away / 2;
      // Further away than a float reaches it still falls, so that the nearest chip is the likeliest.
      const double weight =
          exponent < most_exponent ? std::exp(-exponent) : std::exp(-most_exponent) * most_exponent / exponent;
      weights[node * problem.chips + chip] = static_cast<float>(weight);
    }
  }
  return weights;
}

Partitioner make_partitioner(const Question& question) {
  return {question.package.reduced.problem, question.options.chip_graph, question.options.order};
}

Found search_random(const Question& question) {
  const Distribution distribution = prior(question);
  Partitioner solver = make_partitioner(question);
  const std::int64_t samples = question.options.samples;
  std::optional<program::search::Record<Candidate>> record;
  for (std::int64_t first = 0; first < samples; first += samples_together) {
    std::vector<Partition> batch;
    for (std::int64_t i = first; i < std::min(samples, first + samples_together); ++i)
      batch.push_back(solver.sample(distribution, question.seed, static_cast<std::uint64_t>(i)));
    const std::vector<program::Evaluation> evaluations = question.judge(batch);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const std::int64_t sample = first + static_cast<std::int64_t>(i);
      const Candidate candidate{batch[i], fmt::format("random {}", sample), question.foretell(batch[i])};
      if (!record) record.emplace(candidate, question.fidelity);
      record->add(sample, candidate, evaluations[i], true, {});
    }
  }
  auto outcome = record->take();
  return {std::move(outcome.best.partition), std::move(outcome.evaluation), std::move(outcome.table)};
}

}  // namespace tessera::strategy::mcm
