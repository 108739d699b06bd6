# Inner loops are there for AVX2 as well, which is chosen when the program runs (tessera/base/processor.hpp): one
# file of each is compiled for it, by itself, and offers nothing to others that they have too, so that none of its functions is
# taken for theirs (tests/structure/test_kernels.py). Where it uses Eigen, that has another name.
set(kernels ${PROJECT_SOURCE_DIR}/src/base/learning/kernels_avx2.cpp
            ${PROJECT_SOURCE_DIR}/src/strategy/primepar/search/cost_loops_avx2.cpp)
set_source_files_properties(${kernels} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set_source_files_properties(${kernels} PROPERTIES COMPILE_OPTIONS "-mavx2;-mfma" COMPILE_DEFINITIONS "Eigen=EigenAvx2")
endif()
