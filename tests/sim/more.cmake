# What the tests on one rank and on several share.
target_sources(test_sim_mpi PRIVATE
  ${CMAKE_CURRENT_LIST_DIR}/packet_reference.cpp ${CMAKE_CURRENT_LIST_DIR}/traffic.cpp
  ${CMAKE_CURRENT_LIST_DIR}/random_traffic.cpp ${CMAKE_CURRENT_LIST_DIR}/program_case.cpp
  ${CMAKE_CURRENT_LIST_DIR}/busy_program.cpp ${CMAKE_CURRENT_LIST_DIR}/random_rings.cpp
  ${CMAKE_CURRENT_LIST_DIR}/random_replicas.cpp
  ${CMAKE_CURRENT_LIST_DIR}/random_sites.cpp ${CMAKE_CURRENT_LIST_DIR}/random_ways.cpp)

target_include_directories(test_sim PRIVATE ${PROJECT_SOURCE_DIR}/src) # what only sim uses stands there
target_include_directories(test_sim_mpi PRIVATE ${PROJECT_SOURCE_DIR}/src)

# Matrices that simulated kernels must have computed are compared with Eigen's.
find_package(Eigen3 3.3 REQUIRED NO_MODULE)
target_link_libraries(test_sim PRIVATE Eigen3::Eigen)
