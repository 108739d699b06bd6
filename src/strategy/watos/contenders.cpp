#include "contenders.hpp"

#include "prediction.hpp"

namespace tessera::strategy::watos {

Contender contender_of(const Candidate& candidate, const NamedProblem& named, const Solution& solution,
                       std::string origin, const machine::Machine* wafer) {
  Contender one;
  one.text = candidate.text();
  one.origin = std::move(origin);
  one.predicted = predicted(named.problem, solution);
  one.keys = with_cut(config::Table(), candidate.cut, named.layers);
  config::merge(*one.keys, *keys_of(named, solution, wafer));
  return one;
}

}  // namespace tessera::strategy::watos
