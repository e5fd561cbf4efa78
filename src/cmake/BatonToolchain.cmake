# Compiler settings for every target: C++20, hidden symbols, warnings, optional sanitizers, and nvcc where it is found.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  if(PROJECT_IS_TOP_LEVEL)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
  else()  # the type stays the outer project's, which installs by it
    add_compile_options(-O3 -DNDEBUG)
  endif()
endif()

# What CMake takes for a boolean, or AUTO.
string(TOUPPER "${BATON_CUDA}" baton_cuda)
if(baton_cuda MATCHES "^(ON|YES|TRUE|Y|1)$")
  set(baton_cuda ON)
elseif(baton_cuda MATCHES "^(OFF|NO|FALSE|N|0)$")
  set(baton_cuda OFF)
elseif(NOT baton_cuda STREQUAL "AUTO")
  message(FATAL_ERROR "BATON_CUDA is \"${BATON_CUDA}\"; it is AUTO, ON or OFF")
endif()
set_property(CACHE BATON_CUDA PROPERTY VALUE ${baton_cuda})  # quickstart reads it
if(NOT BATON_SANITIZE MATCHES "^(|thread|address|undefined|address,undefined|undefined,address)$")
  message(FATAL_ERROR "BATON_SANITIZE is \"${BATON_SANITIZE}\"; it is empty, address,undefined or thread")
endif()

set(BATON_WITH_CUDA OFF)
set(baton_cuda_minimum 13.0)
set(baton_no_cuda "BATON_CUDA=OFF")
if(NOT baton_cuda STREQUAL "OFF")
  # Debian and NVIDIA's packages put nvcc in a folder that is often not on PATH.
  if(NOT DEFINED CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    find_program(BATON_NVCC nvcc PATHS /usr/local/cuda/bin)
    if(BATON_NVCC)
      set(ENV{CUDACXX} ${BATON_NVCC})
    endif()
  endif()
  set(baton_architectures "^(9[0-9]|[1-9][0-9][0-9]|native)")  # that have what the kernels need
  if(NOT PROJECT_IS_TOP_LEVEL)  # the outer project's, perhaps nvcc's default: those of them
    list(FILTER CMAKE_CUDA_ARCHITECTURES INCLUDE REGEX "${baton_architectures}")
  endif()
  if("${CMAKE_CUDA_ARCHITECTURES}" STREQUAL "")
    set(CMAKE_CUDA_ARCHITECTURES 90)
  endif()
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    foreach(architecture IN LISTS CMAKE_CUDA_ARCHITECTURES)
      if(architecture AND NOT architecture MATCHES "${baton_architectures}")  # OFF: the flags name them
        message(FATAL_ERROR "CMAKE_CUDA_ARCHITECTURES has ${architecture}; Baton's kernels need Hopper GPUs (90) or newer ones")
      endif()
    endforeach()
    enable_language(CUDA)
    if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL baton_cuda_minimum)
      find_package(CUDAToolkit ${baton_cuda_minimum} REQUIRED)
      set(BATON_WITH_CUDA ON)
    else()
      set(baton_no_cuda "${CMAKE_CUDA_COMPILER} is ${CMAKE_CUDA_COMPILER_VERSION}, older than ${baton_cuda_minimum}")
    endif()
  elseif(BATON_NVCC)
    set(baton_no_cuda "${BATON_NVCC} cannot compile with ${CMAKE_CXX_COMPILER}")
  elseif(DEFINED ENV{CUDACXX})
    set(baton_no_cuda "CUDACXX=$ENV{CUDACXX} does not compile")
  else()
    set(baton_no_cuda "no nvcc was found")
  endif()
  if(baton_cuda STREQUAL "ON" AND NOT BATON_WITH_CUDA)
    message(FATAL_ERROR "BATON_CUDA=ON, but ${baton_no_cuda}; set CUDACXX or install the CUDA toolkit, "
                        "${baton_cuda_minimum} or newer")
  endif()
endif()
set(BATON_WITH_CUDA ${BATON_WITH_CUDA} CACHE INTERNAL "The outcome of BATON_CUDA; quickstart reads it")
if(BATON_WITH_CUDA)
  # CMake 3.25.1 (Debian 12) does not know that nvcc 12 and later speak C++20.
  if(NOT DEFINED CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
  endif()
  set(CMAKE_CUDA_STANDARD 20)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  set(CMAKE_CUDA_VISIBILITY_PRESET hidden)
  message(STATUS "Baton: GPU transports on (nvcc ${CMAKE_CUDA_COMPILER_VERSION}, sm_${CMAKE_CUDA_ARCHITECTURES})")
else()
  message(STATUS "Baton: host transport only (${baton_no_cuda})")
endif()

add_library(baton_options INTERFACE)
# The last two: the removed C++ bindings of MPI, which Open MPI's mpi.h still brings, cost every file parse time.
target_compile_definitions(baton_options INTERFACE
  BATON_WITH_CUDA=$<BOOL:${BATON_WITH_CUDA}> OMPI_SKIP_MPICXX=1 MPICH_SKIP_MPICXX=1)
# Whatever flags a packager or an outer project brings (-Ofast, nvcc's -use_fast_math): every path gives the same bits.
target_compile_options(baton_options INTERFACE
  $<$<COMPILE_LANG_AND_ID:C,GNU>:-fno-allow-store-data-races> $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-allow-store-data-races>
  $<$<COMPILE_LANGUAGE:CUDA>:--ftz=false --prec-div=true --prec-sqrt=true -Xcompiler=-fno-fast-math,-ffp-contract=off>
  $<$<COMPILE_LANGUAGE:C,CXX>:-fno-fast-math -ffp-contract=off -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wcast-qual>
  $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra --extended-lambda --expt-relaxed-constexpr -lineinfo>)
# With such flags GCC and clang link what flushes subnormal numbers to zero in all of the program. -O2 undoes -Ofast.
target_link_options(baton_options INTERFACE $<HOST_LINK:-O2;-fno-fast-math;-fno-unsafe-math-optimizations>)
# For code that runs once a program, or only calls what is tested: an optimiser takes longer over it than it saves.
set(baton_little_optimised $<$<COMPILE_LANGUAGE:C,CXX>:$<$<CONFIG:Debug>:-O0>$<$<CONFIG:Release>:-O1>>)
if(BATON_WERROR)
  target_compile_options(baton_options INTERFACE
    $<$<COMPILE_LANGUAGE:C,CXX>:-Werror>
    $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings -Xcompiler=-Werror>)
endif()
if(BATON_SANITIZE)
  # The vptr check opens a pipe at each look, and takes having no file descriptor left for a bad object.
  target_compile_options(baton_options INTERFACE
    $<$<COMPILE_LANGUAGE:C,CXX>:-fsanitize=${BATON_SANITIZE} -fno-sanitize=vptr -fno-omit-frame-pointer -fno-sanitize-recover=all>)
  target_link_options(baton_options INTERFACE -fsanitize=${BATON_SANITIZE})
endif()
if(BATON_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "BATON_FUZZ=ON needs clang (libFuzzer), not ${CMAKE_CXX_COMPILER_ID}; set CMAKE_CXX_COMPILER")
  endif()
  target_compile_options(baton_options INTERFACE $<$<COMPILE_LANGUAGE:C,CXX>:-fsanitize=fuzzer-no-link>)
  # An index one past a vector's end mostly hits memory that the vector has in reserve, where AddressSanitizer sees nothing.
  target_compile_definitions(baton_options INTERFACE _GLIBCXX_ASSERTIONS)
endif()
