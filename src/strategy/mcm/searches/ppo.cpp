// The paper's search (section 4): a policy draws partitions, the solver corrects them, and it learns from what they are
// worth. From a policy that was trained on other graphs this is the paper's fine-tuning.
#include "../learning/policy_search.hpp"
#include "searches.hpp"

namespace tessera::strategy::mcm {

Found search_ppo(const Question& question) { return search_by_policy(question, "ppo", true); }

Found search_zero_shot(const Question& question) { return search_by_policy(question, zero_shot, false); }

}  // namespace tessera::strategy::mcm
