# The networks of strategy mcm have their products for AVX2 as well, which is chosen when the program runs
# (src/strategy/mcm/learning/kernels.hpp): one file is compiled for it, by itself, with Eigen under another name, so that none of
# its functions is taken for those of other files.
set(kernels ${PROJECT_SOURCE_DIR}/src/strategy/mcm/learning/kernels_avx2.cpp)
set_source_files_properties(${kernels} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set_source_files_properties(${kernels} PROPERTIES COMPILE_OPTIONS "-mavx2;-mfma" COMPILE_DEFINITIONS "Eigen=EigenAvx2")
endif()
