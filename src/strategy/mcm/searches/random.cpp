// The paper's random search (section 5.1): every sample from the same distribution, by the solver in SAMPLE mode.
#include <fmt/core.h>

#include <algorithm>

#include "sampling.hpp"

namespace tessera::strategy::mcm {
namespace {

constexpr std::int64_t samples_together = 32;  // evaluated over all ranks; results do not depend on it

}  // namespace

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
