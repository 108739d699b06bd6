// What the processor can do that the program is not built for: chosen when it runs.
#pragma once

namespace tessera {

/// Functions of files that are compiled for AVX2 and FMA (cmake/TesseraKernels.cmake) can run here.
[[nodiscard]] bool has_avx2();

}  // namespace tessera
