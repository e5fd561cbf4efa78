set(baton_precompiled_headers
  <algorithm> <chrono> <cstring> <functional> <map> <memory> <mutex> <optional> <string> <vector> <fmt/format.h>)
# Files around JSON and the readers of machines take an optimiser longest when they are sanitized, and run for moments.
# Not where they are fuzzed: inputs per second count there.
set(baton_unhurried "")
if(BATON_SANITIZE AND NOT BATON_FUZZ)
  set(baton_unhurried -O0)
endif()

# baton_layer(NAME [DIR dir] [LINK targets...] [UNHURRIED]): one static library per layer, from the .cpp (and with CUDA
# the .cu) files directly inside a folder. Only the layers named under LINK are visible to it, so an include that goes up the layers
# compiles at best and fails to link, or in the test `layers`. Files named *_cuda.cpp need the toolkit; *_no_cuda.cpp
# stand in for them. UNHURRIED layers are not optimised in sanitized builds.
function(baton_layer name)
  cmake_parse_arguments(LAYER "UNHURRIED" "DIR" "LINK" ${ARGN})
  if(NOT LAYER_DIR)
    set(LAYER_DIR ${CMAKE_CURRENT_SOURCE_DIR})
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${LAYER_DIR}/*.cpp)
  if(BATON_WITH_CUDA)
    list(FILTER sources EXCLUDE REGEX "_no_cuda\\.cpp$")
    file(GLOB kernels CONFIGURE_DEPENDS ${LAYER_DIR}/*.cu)
    list(APPEND sources ${kernels})
  else()
    list(FILTER sources EXCLUDE REGEX "[^o]_cuda\\.cpp$")
  endif()
  if(sources)
    add_library(${name} STATIC ${sources})
    set(scope PUBLIC)
  else()
    add_library(${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(${name} ${scope} ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} ${scope} baton_options fmt::fmt MPI::MPI_CXX Threads::Threads ${LAYER_LINK})
  if(BATON_WITH_CUDA)
    target_link_libraries(${name} ${scope} CUDA::cudart_static)
  endif()
  if(LAYER_UNHURRIED AND baton_unhurried)
    target_compile_options(${name} PRIVATE ${baton_unhurried})
    target_precompile_headers(${name} PRIVATE ${baton_precompiled_headers})
  elseif(sources AND NOT name STREQUAL "baton_util")
    baton_precompiled(${name})
  endif()
endfunction()

# baton_unhurried_code(FILES...): sources of the current folder that sanitized builds do not optimise.
function(baton_unhurried_code)
  if(baton_unhurried)
    set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS ${baton_unhurried} SKIP_PRECOMPILE_HEADERS ON)
  endif()
endfunction()

# baton_precompiled(TARGETS...): static libraries that read the headers of baton_util's precompiled_headers as parsed once.
# GCC takes them only where code is made with the same options: executables and the tests do without, or have their own.
function(baton_precompiled)
  foreach(target IN LISTS ARGN)
    target_precompile_headers(${target} REUSE_FROM baton_util)
  endforeach()
endfunction()
