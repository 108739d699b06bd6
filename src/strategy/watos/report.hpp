// What a search leaves for people.
#pragma once

#include "contenders.hpp"

namespace tessera::strategy::watos {

/// The best fitness of one genetic search, by generation, the start being the first.
struct Curve {
  std::string text;  ///< of the candidate
  std::vector<double> best;
};

/// The plan that is taken, the fastest that was simulated; rows of all cuts that are out, and of all contenders.
[[nodiscard]] Searched report(const Question& question, const std::vector<Candidate>& candidates,
                              const std::vector<Contender>& contenders, const std::vector<program::Evaluation>& found,
                              const std::vector<Curve>& curves);

}  // namespace tessera::strategy::watos
