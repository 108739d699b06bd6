#include "cost_loops.hpp"

#include "cost_loops_any.hpp"
#include "tessera/base/processor.hpp"

namespace tessera::strategy::primepar {

CostLoops baseline_cost_loops() { return AnyCostLoops::all(); }

const CostLoops& cost_loops() {
  static const CostLoops loops = has_avx2() ? avx2_cost_loops() : baseline_cost_loops();
  return loops;
}

}  // namespace tessera::strategy::primepar
