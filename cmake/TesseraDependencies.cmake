# Everything comes from the distribution's packages (scripts/install-deps.sh) or from a site's modules; docs/dependencies.md
# says why each is there. cmake/tessera-config.cmake.in finds the same again for those who link against an installed Tessera.
find_package(MPI REQUIRED COMPONENTS C)

# With or without MPI: ranks write through MPI themselves. 1.10.2 is the first that can be told the format to write.
set(HDF5_PREFER_PARALLEL TRUE)
find_package(HDF5 1.10.2 REQUIRED COMPONENTS C)

find_package(ZLIB REQUIRED)
find_package(fmt REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(Boost REQUIRED COMPONENTS serialization)
find_package(Eigen3 3.3 REQUIRED NO_MODULE)

# Optional: computation graphs from ONNX files. A build without says so where such a file is given.
find_package(Protobuf QUIET)
find_package(ONNX CONFIG QUIET)
set(TESSERA_ONNX OFF)
set(TESSERA_ONNX_LIBRARIES)
if(TARGET onnx AND TARGET protobuf::libprotobuf)
  set(TESSERA_ONNX ON)
  set(TESSERA_ONNX_LIBRARIES tessera_onnx)
endif()

include(${CMAKE_CURRENT_LIST_DIR}/TesseraImported.cmake)

# MPI and HDF5 may live where a site's modules put them: an installed program still finds them there.
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH TRUE)
