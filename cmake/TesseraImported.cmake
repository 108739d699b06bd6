# Targets for what brings none of its own. Part of the installed package too: every site finds its own MPI, HDF5 and METIS.

# The deprecated C++ bindings of MPI break linking, so only the C interface is used, from C++ too.
set_property(TARGET MPI::MPI_C APPEND PROPERTY INTERFACE_COMPILE_DEFINITIONS OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)

if(NOT TARGET tessera_hdf5)
  add_library(tessera_hdf5 INTERFACE IMPORTED)
  target_include_directories(tessera_hdf5 SYSTEM INTERFACE ${HDF5_C_INCLUDE_DIRS})
  target_link_libraries(tessera_hdf5 INTERFACE ${HDF5_C_LIBRARIES})
endif()

find_path(METIS_INCLUDE_DIR metis.h REQUIRED)
find_library(METIS_LIBRARY metis REQUIRED)
if(NOT TARGET tessera_metis)
  add_library(tessera_metis INTERFACE IMPORTED)
  target_include_directories(tessera_metis SYSTEM INTERFACE ${METIS_INCLUDE_DIR})
  target_link_libraries(tessera_metis INTERFACE ${METIS_LIBRARY})
endif()

find_path(MUPARSER_INCLUDE_DIR muParser.h REQUIRED)
find_library(MUPARSER_LIBRARY muparser REQUIRED)
if(NOT TARGET tessera_muparser)
  add_library(tessera_muparser INTERFACE IMPORTED)
  target_include_directories(tessera_muparser SYSTEM INTERFACE ${MUPARSER_INCLUDE_DIR})
  target_link_libraries(tessera_muparser INTERFACE ${MUPARSER_LIBRARY})
endif()

find_path(RANDOM123_INCLUDE_DIR Random123/philox.h REQUIRED)
if(NOT TARGET tessera_random123)
  add_library(tessera_random123 INTERFACE IMPORTED)
  target_include_directories(tessera_random123 SYSTEM INTERFACE ${RANDOM123_INCLUDE_DIR})
endif()

# Where Tessera is built with it; who includes this has found the packages.
if(TESSERA_ONNX AND NOT TARGET tessera_onnx)
  add_library(tessera_onnx INTERFACE IMPORTED)
  target_compile_definitions(tessera_onnx INTERFACE TESSERA_ONNX)
  target_link_libraries(tessera_onnx INTERFACE onnx onnx_proto protobuf::libprotobuf)
endif()
