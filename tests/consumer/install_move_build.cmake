# The steps of the consumer test; each must succeed.
function(step)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "exit status ${result} of: ${command}")
  endif()
endfunction()

separate_arguments(ENVIRONMENT)
file(REMOVE_RECURSE ${WORK})
step(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/first --config ${CONFIG})
file(RENAME ${WORK}/first ${WORK}/moved)
set(prefix ${WORK}/moved)

# Nothing in the package may point to where it was built or first installed.
file(GLOB package ${prefix}/${LIBDIR}/cmake/tessera/*.cmake)
foreach(file ${package})
  file(READ ${file} text)
  foreach(place ${BUILD}/ ${WORK}/first)
    string(FIND "${text}" "${place}" found)
    if(NOT found EQUAL -1)
      message(FATAL_ERROR "${file} mentions ${place}")
    endif()
  endforeach()
endforeach()
foreach(part share/tessera/inputs/machines/a100-80g-cluster.toml include/tessera/machine/machine.hpp)
  if(NOT EXISTS ${prefix}/${part})
    message(FATAL_ERROR "${part} is missing in the prefix")
  endif()
endforeach()

# The program finds its inputs in the prefix, wherever that is.
step(${prefix}/bin/tessera help machine.gpu)
step(${prefix}/bin/tessera check ${prefix}/share/tessera/inputs/experiments/gpt3-175b.toml)

step(${CMAKE_COMMAND} -S ${PROJECT} -B ${WORK}/build -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${prefix}
  -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER} -DCMAKE_BUILD_TYPE=${CONFIG})
step(${CMAKE_COMMAND} --build ${WORK}/build)
step(${WORK}/build/ping_pong)
step(${WORK}/build/star)
step(${WORK}/build/own ${PROJECT}/own/own.toml)
step(${WORK}/build/toy ${PROJECT}/toy/toy.toml ${WORK}/one.h5)
# The table that it hands over is one of the result's.
execute_process(COMMAND ${prefix}/bin/tessera show ${WORK}/one.h5 --table stages RESULT_VARIABLE result OUTPUT_VARIABLE said)
if(NOT result EQUAL 0 OR NOT said MATCHES "/stages, 3 rows: Stages of the graph, one a chip.\n  chip  weights\n              B\n     0  2000000\n")
  message(FATAL_ERROR "the table of the strategy is not shown: ${said}")
endif()
# Its result does not depend on the number of ranks.
step(${CMAKE_COMMAND} -E env ${ENVIRONMENT} ${MPIEXEC} ${MPIEXEC_NUMPROC_FLAG} 2
  ${WORK}/build/toy ${PROJECT}/toy/toy.toml ${WORK}/two.h5)
if(H5DIFF)
  execute_process(COMMAND ${H5DIFF} -c --exclude-path /provenance ${WORK}/one.h5 ${WORK}/two.h5
    RESULT_VARIABLE result OUTPUT_VARIABLE said)
  # It has no collectives, and h5diff does not like tables without rows.
  string(REGEX REPLACE "[^\n]*is an empty dataset\n" "" said "${said}")
  if(NOT result EQUAL 0 OR NOT said STREQUAL "")
    message(FATAL_ERROR "one rank and two have different results: ${said}")
  endif()
endif()

# Who links libraries that were built with ONNX needs it too, and is told so; nobody else looks for it.
execute_process(COMMAND ${CMAKE_COMMAND} -S ${PROJECT} -B ${WORK}/without-onnx -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${prefix}
  -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_DISABLE_FIND_PACKAGE_ONNX=ON -DCMAKE_DISABLE_FIND_PACKAGE_Protobuf=ON
  RESULT_VARIABLE result OUTPUT_QUIET ERROR_VARIABLE said)
if(ONNX AND (result EQUAL 0 OR NOT said MATCHES "Protobuf"))
  message(FATAL_ERROR "a project without ONNX finds a Tessera that was built with it: ${said}")
elseif(NOT ONNX AND NOT result EQUAL 0)
  message(FATAL_ERROR "a Tessera that was built without ONNX asks for it: ${said}")
endif()
