// Compiled with AVX2, where the compiler knows it (cmake/TesseraKernels.cmake).
#include "cost_loops_any.hpp"

namespace tessera::strategy::primepar {

CostLoops avx2_cost_loops() { return AnyCostLoops::all(); }

}  // namespace tessera::strategy::primepar
