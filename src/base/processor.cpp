#include "tessera/base/processor.hpp"

namespace tessera {

#if defined(__x86_64__)
bool has_avx2() { return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0; }
#else
bool has_avx2() { return false; }
#endif

}  // namespace tessera
