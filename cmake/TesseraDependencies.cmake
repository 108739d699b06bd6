# Everything comes from the distribution's packages (scripts/install-deps.sh) or from a site's modules; docs/dependencies.md
# says why each is there. cmake/tessera-config.cmake.in finds the same again for those who link against an installed Tessera.
find_package(MPI REQUIRED COMPONENTS C)

set(HDF5_PREFER_PARALLEL TRUE)
find_package(HDF5 REQUIRED COMPONENTS C)
if(NOT HDF5_IS_PARALLEL)
  message(FATAL_ERROR "HDF5 was built without MPI; Tessera needs parallel HDF5 (Debian: libhdf5-openmpi-dev)")
endif()

find_package(ZLIB REQUIRED)
find_package(fmt REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(Boost REQUIRED COMPONENTS serialization)

include(${CMAKE_CURRENT_LIST_DIR}/TesseraImported.cmake)

# MPI and HDF5 may live where a site's modules put them: an installed program still finds them there.
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH TRUE)
