# tessera_mpi_test(NAME TARGET [ARGS]): runs TARGET under mpirun on 1, 2, 3 and 4 ranks.
# More ranks than cores must yield while they wait, or every reduction takes milliseconds (docs/cluster.md).
function(tessera_mpi_environment result)
  set(environment OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none)
  execute_process(COMMAND id -u OUTPUT_VARIABLE user OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(user STREQUAL "0")
    list(APPEND environment OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1)
  endif()
  set(${result} "${environment}" PARENT_SCOPE)
endfunction()

function(tessera_mpi_test name target)
  tessera_mpi_environment(environment)
  foreach(ranks 1 2 3 4)
    add_test(NAME ${name}.${ranks} COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} $<TARGET_FILE:${target}> ${ARGN})
    set_tests_properties(${name}.${ranks} PROPERTIES ENVIRONMENT "${environment}" PROCESSORS 2 TIMEOUT 600 LABELS mpi)
  endforeach()
endfunction()
