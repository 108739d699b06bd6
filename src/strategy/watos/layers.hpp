// How many layers each stage has.
#pragma once

#include "candidates.hpp"

namespace tessera::strategy::watos {

/// Layers of each stage, so that with nothing run again the slowest stage is as fast as can be where the stages stand.
/// Each has one at least.
[[nodiscard]] std::vector<std::int64_t> balanced_layers(const NamedProblem& named, const Solution& solution);

/// Problems of one cut, with layers that the search deals out. All of it outlives this.
class Layers {
 public:
  Layers(const Question& question, Pricing& pricing) : question_(question), pricing_(pricing) {}

  /// Of a cut whose stages start at those places: a slow one has fewer layers. Even, as strategy megatron deals them
  /// out, where layers by time do not fit: a stage its state, or all stages the pool.
  [[nodiscard]] NamedProblem at(const Cut& cut, const NamedProblem& plain, const std::vector<std::uint16_t>& start);

  /// What a stage repeats makes it slower: layers go one by one from the slowest stage to the one that is the first to
  /// be done with one more, as long as the pipeline is predicted to be faster for it.
  void move_by_time(Candidate& candidate);

 private:
  /// Nothing where such layers cannot be.
  [[nodiscard]] std::optional<NamedProblem> with(const Cut& cut, const NamedProblem& like,
                                                 const std::vector<std::int64_t>& layers);

  const Question& question_;
  Pricing& pricing_;
};

}  // namespace tessera::strategy::watos
