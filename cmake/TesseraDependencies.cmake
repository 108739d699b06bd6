# Everything comes from the distribution's packages (scripts/install-deps.sh) or from a site's modules.
set(OMPI_SKIP_MPICXX TRUE)
find_package(MPI REQUIRED COMPONENTS C)
# The deprecated C++ bindings of MPI break linking, so only the C interface is used, from C++ too.
target_compile_definitions(MPI::MPI_C INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)

set(HDF5_PREFER_PARALLEL TRUE)
find_package(HDF5 REQUIRED COMPONENTS C)
if(NOT HDF5_IS_PARALLEL)
  message(FATAL_ERROR "HDF5 was built without MPI; Tessera needs parallel HDF5 (Debian: libhdf5-openmpi-dev)")
endif()
add_library(tessera_hdf5 INTERFACE)
target_include_directories(tessera_hdf5 SYSTEM INTERFACE ${HDF5_C_INCLUDE_DIRS})
target_link_libraries(tessera_hdf5 INTERFACE ${HDF5_C_LIBRARIES})

find_package(fmt REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(Boost REQUIRED COMPONENTS serialization)

find_path(METIS_INCLUDE_DIR metis.h REQUIRED)
find_library(METIS_LIBRARY metis REQUIRED)
add_library(tessera_metis INTERFACE)
target_include_directories(tessera_metis SYSTEM INTERFACE ${METIS_INCLUDE_DIR})
target_link_libraries(tessera_metis INTERFACE ${METIS_LIBRARY})

find_path(RANDOM123_INCLUDE_DIR Random123/philox.h REQUIRED)
