// What a search that learns did to its policy: the table by which one sees whether it learns, and why it does not.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tessera/base/data_table.hpp"

namespace tessera::strategy::mcm {

/// One update, from rollouts that were drawn before it. Zeros behind `value`: nothing was changed.
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
  bool operator==(const Update&) const = default;
};

/// Table /learning of results and of policies.
[[nodiscard]] DataTable learning_table(const std::vector<Update>& updates);
/// From that table again. InputError where it lacks a column, or there is none among these.
[[nodiscard]] std::vector<Update> updates_of(const std::vector<DataTable>& tables);

/// "12000 samples, vgg-11: reward 1.034, 98 % valid, entropy 0.12", while it learns.
[[nodiscard]] std::string progress_text(const Update& last);

}  // namespace tessera::strategy::mcm
