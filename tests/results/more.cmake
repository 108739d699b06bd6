# A file system without MPI-IO, as ranks see it: Open MPI is told to use neither of its two implementations. Rank 0 then writes for all.
# Other MPIs pass over the setting and run the same tests once more.
tessera_mpi_environment(environment)
add_test(NAME results.without-mpi-io.3
  COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} 3 $<TARGET_FILE:test_results_mpi>)
set_tests_properties(results.without-mpi-io.3 PROPERTIES ENVIRONMENT "${environment};OMPI_MCA_io=^ompio,romio321"
  PROCESSORS 2 TIMEOUT 600 LABELS mpi)

# A disk that is full at every twentieth of the file; skipped where nothing may be mounted.
add_executable(test_full_disk ${CMAKE_CURRENT_LIST_DIR}/full_disk/full_disk.cpp)
tessera_test_units(test_full_disk)
target_link_libraries(test_full_disk PRIVATE tessera_mpi_test_main tessera_results)
add_dependencies(mpi_tests test_full_disk)
foreach(ranks 1 2 3 4)
  add_test(NAME results.full-disk.${ranks} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/support/with-tmpfs.sh
    ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} $<TARGET_FILE:test_full_disk>)
  set_tests_properties(results.full-disk.${ranks} PROPERTIES ENVIRONMENT "${environment}" SKIP_RETURN_CODE 77 PROCESSORS 2
    TIMEOUT 600 LABELS mpi)
endforeach()

# The same where no space can be set aside.
add_executable(test_unreserved_disk ${CMAKE_CURRENT_LIST_DIR}/full_disk/unreserved.cpp)
tessera_test_units(test_unreserved_disk)
target_link_libraries(test_unreserved_disk PRIVATE tessera_mpi_test_main tessera_results)
add_dependencies(mpi_tests test_unreserved_disk)
foreach(ranks 1 3)
  add_test(NAME results.unreserved-disk.${ranks} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/support/with-ext2.sh
    ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} $<TARGET_FILE:test_unreserved_disk>)
  set_tests_properties(results.unreserved-disk.${ranks} PROPERTIES ENVIRONMENT "${environment}" SKIP_RETURN_CODE 77
    PROCESSORS 2 TIMEOUT 120 LABELS mpi)
endforeach()
