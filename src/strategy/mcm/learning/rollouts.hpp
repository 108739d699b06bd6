// What a policy draws of a graph, and what comes of it (Figure 3): candidates, made valid by the solver, judged.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "../partitioner.hpp"
#include "../searches/searches.hpp"
#include "learning_options.hpp"
#include "policy_network.hpp"

namespace tessera::strategy::mcm {

/// A graph that a policy learns from, or is asked about.
struct Learned {
  const Question& question;
  GraphInput input;
  Partitioner partitioner;
  Time heuristic = 0;  ///< cost of the headline heuristic, by which rewards are reckoned

  explicit Learned(const Question& question);
};

struct Rollout {
  std::vector<Partition> states;  ///< by iteration what it was told: y(0), which is empty, .. y(T-1)
  Partition proposed;             ///< y(T)
  Partition valid;                ///< y', the solver's
  std::vector<std::vector<float>>
      log_probabilities;  ///< by iteration and node: of the credited action, when it was drawn
  program::Evaluation evaluation;
  double reward = 0;

  [[nodiscard]] const Partition& credited(Credit credit) const { return credit == Credit::solver ? valid : proposed; }
};

struct RolloutSet {
  std::vector<Rollout> rollouts;
  double value = 0;    ///< the value function's, before
  double entropy = 0;  ///< nats, mean over nodes
};

/// The networks with all memory that passes take.
class Policy {
 public:
  Policy(const Layout& layout, const learning::Kernels<float>& kernels) : layout_(layout), kernels_(kernels) {}

  /// Rollouts `first` .. `first` + `count` - 1 of the graph, not yet judged. Draws are keyed by seed and number alone.
  [[nodiscard]] RolloutSet draw(Learned& graph, const std::vector<float>& parameters, const LearningOptions& options,
                                std::int64_t first, std::int64_t count);

 private:
  const Layout& layout_;
  const learning::Kernels<float>& kernels_;
  GraphPass<float> graph_pass_;
  StatePass<float> state_pass_;
  std::vector<float> shared_;
};

/// Asks the judge, on all ranks alike, and sets rewards.
void judge(Learned& graph, std::vector<Rollout>& rollouts);

/// logits -> log of probabilities, by row; returns the mean entropy of a row in nats.
template <class Scalar>
double log_softmax(std::vector<Scalar>& logits, std::size_t columns);

}  // namespace tessera::strategy::mcm
