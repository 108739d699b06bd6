// What a search that learns did to its policy: the table by which one sees whether it learns, and why it does not.
#pragma once

#include <cstdint>
#include <string>

namespace tessera::program::search {

/// One update, from rollouts that were drawn before it. Zeros behind `entropy`: nothing was changed.
struct Update {
  std::int64_t step = 0;     ///< number of the update
  std::int64_t samples = 0;  ///< rollouts in all, up to here
  std::string subject;       ///< what they are of, where a policy learns from several graphs
  double reward = 0;         ///< mean over the update's rollouts; what cannot run counts as 0
  double best_reward = 0;    ///< of them
  double valid = 0;          ///< share of them that can run
  double entropy = 0;        ///< of the policy that drew them: nats a decision
  double value = 0;          ///< what the value function expected
  double value_error = 0;    ///< squared, mean over the gradient steps
  double divergence = 0;     ///< how far the policy went from the one that drew, nats a decision
  double clipped = 0;        ///< share of decisions whose ratio of probabilities was clipped
  double norm = 0;           ///< of gradients, before they were shortened
};

}  // namespace tessera::program::search
