// What a search tried: the table that every search leaves.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "tessera/program/evaluator.hpp"

namespace tessera::program::search {

/// One row.
struct Tried {
  std::int64_t step = 0;
  std::string candidate;  ///< in the strategy's own words
  Fidelity fidelity = Fidelity::simulated;
  Time cost = 0;  ///< of what is to be small; 0 where it cannot run
  bool accepted = false;
  std::string reason;            ///< why it cannot run, or was not accepted
  Time best = 0;                 ///< of all up to here; 0: none can run
  std::string origin;            ///< which part of the search, or which rule, it is from; may be empty
  Time predicted = 0;            ///< what a model of the search's own foretold; 0: nothing
  Time interval = 0;             ///< of a program that repeats: Evaluation::interval
  double reward = 0;             ///< by which the search learns, or would; 0: it has none, or it cannot run
  std::int64_t most_memory = 0;  ///< B: of the fullest device; 0: not known
  Time at_least = 0;             ///< it was cut off, and takes so long at least; 0: it was not
  /// When the row was known, which is when it was made: for /provenance alone, since it depends on the run.
  std::chrono::steady_clock::time_point known = std::chrono::steady_clock::now();
};

}  // namespace tessera::program::search
