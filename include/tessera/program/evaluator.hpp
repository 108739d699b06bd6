// How searches and profilers reach the simulator: declared here, implemented in sim/, handed in by the application
// (DESIGN section 2).
#pragma once

#include <string>

#include "tessera/base/time.hpp"
#include "tessera/program/program.hpp"

namespace tessera::program {

/// What a search needs to know of one run.
struct Evaluation {
  bool feasible = false;
  std::string reason;            ///< why not, naming device, amount and cause
  Time time = 0;                 ///< of the iteration
  std::int64_t peak_memory = 0;  ///< of the fullest device

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& feasible& reason& time& peak_memory;
  }
};

class Evaluator {
 public:
  virtual ~Evaluator() = default;
  [[nodiscard]] virtual Evaluation evaluate(const Program& program) = 0;
};

}  // namespace tessera::program
