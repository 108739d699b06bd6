# tessera_layer(NAME [NOT_HOT] DEPENDS ... PRIVATE_DEPENDS ...): the static library tessera_NAME of src/NAME.
function(tessera_layer name)
  cmake_parse_arguments(LAYER "NOT_HOT" "" "DEPENDS;PRIVATE_DEPENDS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/src/${name}/*.cpp)
  set(library tessera_${name})
  if(sources)
    add_library(${library} STATIC ${sources})
    set(scope PUBLIC)
    tessera_compile_options(${library})
    tessera_unity(${library})
    if(LAYER_NOT_HOT)
      tessera_not_hot(${library})
    endif()
    target_link_libraries(${library} PRIVATE fmt::fmt ${LAYER_PRIVATE_DEPENDS})
    target_include_directories(${library} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/src) # the layer's own headers, that are not installed
  else()
    add_library(${library} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(${library} ${scope}
    $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(${library} ${scope} cxx_std_20)
  target_link_libraries(${library} ${scope} ${LAYER_DEPENDS})
  set_property(GLOBAL APPEND PROPERTY TESSERA_LIBRARIES ${library})
endfunction()

# Compiles each folder of a target as one unit: headers are read once a folder, and a build takes a quarter of the time. So what
# stands in the anonymous namespaces of a folder has different names.
function(tessera_unity target)
  if(NOT TESSERA_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  foreach(source ${sources})
    get_filename_component(folder ${source} DIRECTORY)
    file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${folder})
    string(MAKE_C_IDENTIFIER ${folder} group)
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
    if(source MATCHES "/(built_in|registry|topology)\\.cpp$") # the built-in lists: a program may link others in their place
      set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
  endforeach()
endfunction()

# Warnings, sanitizers and instruction set: the same for every target of the project. Nobody asks errno after a square
# root, and with it loops around one are not vectorized.
function(tessera_compile_options target)
  target_compile_options(${target} PRIVATE -fno-math-errno)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion)
  if(TESSERA_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(TESSERA_SANITIZE)
    # g++ 12 sees uninitialized values in the standard library's own templates once they are instrumented.
    target_compile_options(${target} PRIVATE -Wno-maybe-uninitialized)
    target_compile_options(${target} PRIVATE -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(${target} PUBLIC -fsanitize=address,undefined)
  endif()
  if(TESSERA_NATIVE)
    target_compile_options(${target} PRIVATE -march=native)
  endif()
endfunction()

# Where no simulation spends its time, a release is optimized less, which halves what it costs to compile.
function(tessera_not_hot target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()
