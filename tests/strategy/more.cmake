# Tests of strategies reach into their private headers ("strategy/primepar/slices.hpp").
target_include_directories(test_strategy PRIVATE ${PROJECT_SOURCE_DIR}/src)

# Partitioned operators are executed with real matrices, and compared with Eigen's products.
find_package(Eigen3 3.3 REQUIRED NO_MODULE)
target_link_libraries(test_strategy PRIVATE Eigen3::Eigen)
