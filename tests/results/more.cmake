# A file system without MPI-IO, as ranks see it: Open MPI is told to use neither of its two implementations. Rank 0 then writes for all.
# Other MPIs pass over the setting and run the same tests once more.
tessera_mpi_environment(environment)
add_test(NAME results.without-mpi-io.3
  COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} 3 $<TARGET_FILE:test_results_mpi>)
set_tests_properties(results.without-mpi-io.3 PROPERTIES ENVIRONMENT "${environment};OMPI_MCA_io=^ompio,romio321"
  PROCESSORS 2 TIMEOUT 600 LABELS mpi)
