// The list of searches: one line each.
#include "searches.hpp"

namespace tessera::strategy::mcm {

const std::vector<SearchKind>& search_kinds() {
  static const std::vector<SearchKind> kinds = {
      {"contiguous", "the best cut of the topological order that no edge jumps over, within memory", search_contiguous},
      {"equal-nodes", "as many nodes on each chip", search_equal_nodes},
      {"equal-time", "as much time on each chip", search_equal_time},
      {"fill", "chip after chip until its memory is full", search_fill},
      {"random", "samples from one distribution, made valid by the solver", search_random},
      {"annealing", "simulated annealing over distributions, sampled by the solver", search_annealing},
      {"ppo", "a policy that learns from rollouts, from scratch or from a trained one", search_ppo},
      {zero_shot, "draws from a trained policy, which learns nothing more", search_zero_shot},
  };
  return kinds;
}

}  // namespace tessera::strategy::mcm
