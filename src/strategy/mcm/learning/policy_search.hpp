// A search by a policy, which learns as it goes on or stays as it is.
#pragma once

#include "policy_data.hpp"

namespace tessera::strategy::mcm {

/// The networks for this graph and package, or where a policy is given for its package. InputError for a policy of
/// another number of chips, unless it may be stretched.
[[nodiscard]] NetworkShape shape_for(const GraphInput& input, const Tensors* policy, bool may_stretch);

/// What an update's rollouts were worth.
struct Worth {
  double reward = 0, best = 0, valid = 0;  ///< mean, most, and the share that can run
  double entropy = 0, value = 0;           ///< of the policy that drew them
};
[[nodiscard]] Worth worth_of(const RolloutSet& drawn);
/// A row of the table; `report`: all zeros where nothing was learnt.
[[nodiscard]] Update update_of(const Worth& worth, const UpdateReport& report, std::int64_t step, std::int64_t samples,
                               const std::string& subject);

/// Question::policy, or a policy that has learnt nothing, draws Options::samples partitions; if it `learns`, it does
/// behind each of LearningOptions::rollouts but the last. `kernels`: those of Question::comm unless they are given.
[[nodiscard]] Found search_by_policy(const Question& question, const std::string& name, bool learns,
                                     const learning::Kernels<float>* kernels = nullptr);

}  // namespace tessera::strategy::mcm
