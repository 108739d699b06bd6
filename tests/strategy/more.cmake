# Tests of strategies reach into their private headers ("strategy/primepar/cuts/slices.hpp").
target_include_directories(test_strategy PRIVATE ${PROJECT_SOURCE_DIR}/src)

# Partitioned operators are executed with real matrices, and compared with Eigen's products.
find_package(Eigen3 3.3 REQUIRED NO_MODULE)
target_link_libraries(test_strategy PRIVATE Eigen3::Eigen)

# The same under mpirun.
target_include_directories(test_strategy_mpi PRIVATE ${PROJECT_SOURCE_DIR}/src)
target_sources(test_strategy_mpi PRIVATE ${CMAKE_CURRENT_LIST_DIR}/primepar_execution.cpp
                                         ${CMAKE_CURRENT_LIST_DIR}/primepar_attention.cpp
                                         ${CMAKE_CURRENT_LIST_DIR}/primepar_linears.cpp)
target_link_libraries(test_strategy_mpi PRIVATE Eigen3::Eigen MPI::MPI_C)

# By themselves: their Tensor is not that of the files that would stand beside them.
set_source_files_properties(
  ${CMAKE_CURRENT_LIST_DIR}/primepar_attention.cpp
  ${CMAKE_CURRENT_LIST_DIR}/primepar_execution.cpp
  ${CMAKE_CURRENT_LIST_DIR}/primepar_linears.cpp
  ${CMAKE_CURRENT_LIST_DIR}/primepar_mlp.cpp
  ${CMAKE_CURRENT_LIST_DIR}/primepar_redistribution.cpp
  ${CMAKE_CURRENT_LIST_DIR}/primepar_slices.cpp
  ${CMAKE_CURRENT_LIST_DIR}/primepar_transfers.cpp
  PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
