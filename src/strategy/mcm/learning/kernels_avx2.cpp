// Compiled with AVX2 and FMA, where the compiler knows them, and with Eigen under another name (CMakeLists.txt).
#include "eigen_products.hpp"

namespace tessera::strategy::mcm {

#if defined(__AVX2__) && defined(__FMA__)

Kernels<float> avx2_kernels() { return EigenProducts<float>::all("AVX2"); }
bool has_avx2() { return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0; }

#else

Kernels<float> avx2_kernels() { return baseline_kernels<float>(); }
bool has_avx2() { return false; }

#endif

}  // namespace tessera::strategy::mcm
