// Compiled with AVX2 and FMA, where the compiler knows them, and with Eigen under another name (CMakeLists.txt).
#include "eigen_products.hpp"

namespace tessera::learning {

#if defined(__AVX2__) && defined(__FMA__)

Kernels<float> avx2_kernels() { return EigenProducts<float>::all("AVX2"); }

#else

Kernels<float> avx2_kernels() { return baseline_kernels<float>(); }

#endif

}  // namespace tessera::learning
