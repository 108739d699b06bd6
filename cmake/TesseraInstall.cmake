# A relocatable prefix: the binary, the libraries, the headers, the inputs, and find_package(tessera).
include(CMakePackageConfigHelpers)

get_property(libraries GLOBAL PROPERTY TESSERA_LIBRARIES)
foreach(library ${libraries})
  string(REPLACE tessera_ "" name ${library})
  set_target_properties(${library} PROPERTIES EXPORT_NAME ${name})
  add_library(tessera::${name} ALIAS ${library})
endforeach()
# All layers at once. Its own name is taken: "tessera" is the program.
add_library(tessera_all INTERFACE)
target_link_libraries(tessera_all INTERFACE ${libraries})
set_target_properties(tessera_all PROPERTIES EXPORT_NAME tessera)
add_library(tessera::tessera ALIAS tessera_all)

install(TARGETS ${libraries} tessera_all EXPORT tessera-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/tessera DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/inputs DESTINATION ${CMAKE_INSTALL_DATADIR}/tessera)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/analysis DESTINATION ${CMAKE_INSTALL_DATADIR}/tessera
  PATTERN "__pycache__" EXCLUDE PATTERN "tests" EXCLUDE)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tessera)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/tessera-config.cmake.in ${PROJECT_BINARY_DIR}/tessera-config.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tessera-config-version.cmake COMPATIBILITY SameMinorVersion)
install(EXPORT tessera-targets NAMESPACE tessera:: DESTINATION ${package_dir})
install(FILES ${PROJECT_BINARY_DIR}/tessera-config.cmake ${PROJECT_BINARY_DIR}/tessera-config-version.cmake
  ${CMAKE_CURRENT_LIST_DIR}/TesseraImported.cmake DESTINATION ${package_dir})
