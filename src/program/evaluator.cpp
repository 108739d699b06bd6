#include "tessera/program/evaluator.hpp"

namespace tessera::program {

Outlook Evaluator::outlook(const Program& program) {
  const auto alone = make_serial_communicator();
  const Evaluation least = evaluate(program, Fidelity::lower_bound, *alone);
  if (!least.feasible) return {false, false, least.reason};
  const Evaluation estimate = evaluate(program, Fidelity::estimate, *alone);
  if (!estimate.feasible) return {false, true, estimate.reason};
  return {true, true, {}, least.time, estimate.time};
}

}  // namespace tessera::program
