// How a policy learns (section 5.1). What the paper leaves open was chosen on the five validation graphs alone
// (docs/validation/mcm-learning.md).
#pragma once

#include <cstdint>

#include "tessera/base/config.hpp"

namespace tessera::strategy::mcm {

/// Which action a reward is credited to.
enum class Credit : std::uint8_t {
  solver,    ///< y', which was judged
  proposed,  ///< y, which the policy drew
};
/// How the solver makes a partition of what the policy says (section 4.2).
enum class SolverMode : std::uint8_t { fix, sample, none };
/// What a reward is compared with.
enum class Baseline : std::uint8_t { rollouts, value };

struct LearningOptions {
  std::int64_t rollouts = 20, mini_batches = 4, epochs = 10;  ///< the paper's
  std::int64_t iterations = 1;                                ///< T of Eq. 7
  double clip = 0.2;
  double most_ratio = 3;           ///< beyond it a ratio does not count where the reward is below what was expected
  double step = 5e-4;              ///< Adam's
  double fine_tuning_step = 1e-4;  ///< the same, of a search that goes on from a policy
  double entropy = 0.01;           ///< weight of the entropy of a node, nats
  double value = 0.5;              ///< weight of the value function's squared error
  double most_norm = 1;            ///< of a gradient
  Credit credit = Credit::solver;
  SolverMode solver = SolverMode::fix;
  Baseline baseline = Baseline::rollouts;
};
[[nodiscard]] const config::Schema<LearningOptions>& learning_schema();

}  // namespace tessera::strategy::mcm
