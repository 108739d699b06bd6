# What the tests on one rank and on several share.
target_sources(test_sim_mpi PRIVATE
  ${CMAKE_CURRENT_LIST_DIR}/packet_reference.cpp ${CMAKE_CURRENT_LIST_DIR}/traffic.cpp
  ${CMAKE_CURRENT_LIST_DIR}/random_traffic.cpp ${CMAKE_CURRENT_LIST_DIR}/program_case.cpp
  ${CMAKE_CURRENT_LIST_DIR}/busy_program.cpp)
