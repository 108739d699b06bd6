# analysis_python: a python3 with the packages of analysis/, or nothing. Another one that is first on PATH may lack them.
set(analysis_python "")
foreach(candidate python3 /usr/bin/python3)
  find_program(analysis_python_${candidate} ${candidate})
  if(NOT analysis_python AND analysis_python_${candidate})
    execute_process(COMMAND ${analysis_python_${candidate}} -c "import h5py, pandas, matplotlib"
      RESULT_VARIABLE missing OUTPUT_QUIET ERROR_QUIET)
    if(missing EQUAL 0)
      set(analysis_python ${analysis_python_${candidate}})
    endif()
  endif()
endforeach()
# The test NAME: every test_*.py of its folder, which imports from PATHS (separated by colons); further arguments are
# environment settings.
function(tessera_python_tests name paths)
  add_test(NAME ${name} COMMAND ${analysis_python} -m unittest discover -s ${CMAKE_CURRENT_SOURCE_DIR} -p "test_*.py")
  set_tests_properties(${name} PROPERTIES TIMEOUT 600 ENVIRONMENT
    "PYTHONPATH=${paths};PYTHONDONTWRITEBYTECODE=1;MPLBACKEND=Agg;MPLCONFIGDIR=${CMAKE_CURRENT_BINARY_DIR}/matplotlib;${ARGN}")
endfunction()

if(analysis_python)
  message(STATUS "Python of analysis/: ${analysis_python}")
else()
  message(WARNING "No python3 with h5py, pandas and matplotlib (Debian: python3-h5py python3-pandas python3-matplotlib): "
    "the tests of analysis/ and scripts/studies/ are left out")
endif()
