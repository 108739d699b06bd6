// Proximal policy optimization (Schulman et al. 2017, Eq. 7 and 9) of a policy whose actions are chips of nodes: the
// ratio of probabilities is clipped node by node.
#pragma once

#include <memory>
#include <vector>

#include "rollouts.hpp"
#include "tessera/base/learning/adam.hpp"

namespace tessera::strategy::mcm {

/// Rollouts of one graph with what they are compared with.
struct Batch {
  const Learned* graph = nullptr;  ///< null: another rank's
  const std::vector<Rollout>* rollouts = nullptr;
  std::vector<double> advantages;  ///< by rollout
  double target = 0;               ///< of the value function: the mean reward
};

/// Rewards less what was expected, over their deviation; all 0 where they do not differ.
[[nodiscard]] std::vector<double> advantages_of(const RolloutSet& drawn, Baseline baseline);

/// What an update did, as means over its gradient steps: how a collapse is diagnosed.
struct UpdateReport {
  double entropy = 0;      ///< nats a node
  double divergence = 0;   ///< mean of (ratio - 1) - log ratio: how far from the policy that drew
  double clipped = 0;      ///< share of (rollout, node) whose ratio was clipped
  double value_error = 0;  ///< squared
  double norm = 0;         ///< of the gradient
};

/// Loss of a mini-batch and its gradient: -mean(min(r A, clip(r) A)) - entropy H + value (V - target)^2, means over
/// rollouts, iterations and nodes. Where A < 0 a node's term is at most most_ratio |A| (dual clip; Ye et al., AAAI
/// 2020, Eq. 5): a solver's action may have next to no probability, and its ratio is then without bound.
template <class Scalar>
class Loss {
 public:
  Loss(const Layout& layout, const learning::Kernels<Scalar>& kernels, const LearningOptions& options)
      : layout_(layout), kernels_(kernels), options_(options) {}
  /// Adds to `gradient`. `chosen`: rollouts of the batch.
  double gradient(const Batch& batch, const std::vector<std::size_t>& chosen, const Scalar* parameters,
                  Scalar* gradient, UpdateReport& report);

 private:
  struct Item {
    std::size_t rollout = 0, iteration = 0;
  };
  double of_state(const Batch& batch, const Partition& state, const std::vector<Item>& items, Scalar part,
                  const Scalar* parameters, Scalar* gradient, UpdateReport& report);

  const Layout& layout_;
  const learning::Kernels<Scalar>& kernels_;
  LearningOptions options_;
  GraphPass<Scalar> graph_pass_;
  StatePass<Scalar> state_pass_;
  std::vector<Scalar> shared_, of_shared_, of_last_, of_first_, of_logits_;
};

/// Parameters that learn.
class Learner {
 public:
  Learner(const NetworkShape& shape, const LearningOptions& options, const learning::Kernels<float>& kernels,
          std::uint64_t seed);

  [[nodiscard]] const Layout& layout() const { return *layout_; }
  [[nodiscard]] const learning::Kernels<float>& kernels() const { return kernels_; }
  std::vector<float> parameters;
  learning::Adam adam;
  double step;  ///< of Adam; LearningOptions::step to begin with

  /// Epochs of mini-batches, each of rollouts of all these graphs, of which there are as many of each. Of each graph
  /// its owner reckons the gradient; they are added up in the graphs' order. On all ranks of `comm` alike. `number`: of
  /// the update, which keys the shuffling. Returns what it did, by graph.
  std::vector<UpdateReport> update(const std::vector<Batch>& batches, const std::vector<int>& owners,
                                   std::int64_t rollouts, std::int64_t number, Communicator& comm);
  /// Of one graph, on this rank.
  UpdateReport update(const Batch& batch, std::int64_t number);

 private:
  std::unique_ptr<const Layout> layout_;
  LearningOptions options_;
  learning::Kernels<float> kernels_;
  std::uint64_t seed_;
  Loss<float> loss_;
};

}  // namespace tessera::strategy::mcm
