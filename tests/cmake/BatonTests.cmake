# baton_mpi_test(NAME SOURCES files... RANKS counts... [LIBRARIES targets...] [TIMEOUT seconds] [OWN_MAIN] [WAITS]): one binary on
# the MPI main of tests/support, or with a main of its own, and a ctest `NAME.npN` for every rank count N. The same binary
# runs on host memory and on GPUs; with CUDA in the build its tests carry the label `gpu` too. The target is mpi_NAME.
# WAITS is for tests whose ranks mostly wait, and give way to others meanwhile: they start first, one after the other, so
# that there are always others.
#
# baton_mpi_variant(NAME VARIANT RANKS counts... ENV settings... [TIMEOUT seconds] [WAITS]): the same binary
# again as `NAME.VARIANT.npN`, under other environment variables: how tests force one algorithm or transport. Not with
# ThreadSanitizer, which sees the threads of one process, and these are the same whatever way the ranks' data goes.
#
# baton_discover_tests(TARGET PREFIX name [GPU_TESTS patterns] [PROPERTIES ...]): one ctest for every test of a GoogleTest
# binary. Sanitized, where a start costs more than most tests: `NAME.shardN`, a part of them each, without the tests with many
# ranks as threads. Those of GPU_TESTS (as of --gtest_filter) are there in a build with CUDA only, as baton_discover_gpu_tests
# has them.
#
# baton_discover_gpu_tests(TARGET [options of gtest_discover_tests...]): one ctest for every test of a binary, all on a GPU.
#
# baton_test_code(TARGETS...): for every target of tests that calls the code under test and holds none of it. They share
# precompiled headers.
#
# baton_bytewise_code(FILES...): sources of the current folder's tests that make and compare every byte, optimised.
#
# baton_reference_code(FILES...): such sources that touch nothing but what their callers have to themselves. ThreadSanitizer, to
# which every element would be a call, is not for them.
#
# baton_emulated_code(FILES...): sources of the current folder's tests that include kernels' sources (emulation/cuda.hpp).
#
# baton_unit_test(NAME SOURCES files... [LIBRARIES targets...] [NO_SHARED]): a binary without MPI ranks
# and GPUs on GoogleTest's main, without libbaton.so where NO_SHARED is said: for what holds the API's layers themselves.
# The target is unit_NAME.
include_guard()
include(GoogleTest)

# Tests with the label `gpu` come one at a time, where there is a GPU for them.
file(GLOB BATON_GPUS /dev/nvidia[0-9]* /dev/dxg)
set(BATON_GPU_LOCK "")
if(BATON_GPUS)
  set(BATON_GPU_LOCK gpu)
endif()
set(BATON_MPIRUN ${CMAKE_CURRENT_LIST_DIR}/mpirun.sh)
set(BATON_SUCCEEDS ${CMAKE_CURRENT_LIST_DIR}/succeeds.sh)
set(BATON_REFUSED ${CMAKE_CURRENT_LIST_DIR}/refused.sh)
set(BATON_ON_GPU ${CMAKE_CURRENT_LIST_DIR}/on_gpu.sh)

function(baton_test_code)
  foreach(target IN LISTS ARGN)
    target_compile_options(${target} PRIVATE ${baton_little_optimised})
    target_precompile_headers(${target} REUSE_FROM baton_test_support)
  endforeach()
endfunction()

function(baton_bytewise_code)
  set_source_files_properties(${ARGN} PROPERTIES
    COMPILE_OPTIONS $<IF:$<CONFIG:Debug>,-O1,-O2> SKIP_PRECOMPILE_HEADERS ON)
endfunction()

function(baton_reference_code)
  baton_bytewise_code(${ARGN})
  if(BATON_SANITIZE STREQUAL "thread")
    set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS "-O2;-fno-sanitize=thread")
  endif()
endfunction()

function(baton_emulated_code)
  set(options $<IF:$<CONFIG:Debug>,-O1,-O2> -Wno-unknown-pragmas -Wno-sign-compare
    $<IF:$<CXX_COMPILER_ID:GNU>,-Wno-maybe-uninitialized,-Wno-pass-failed>)
  if(BATON_SANITIZE MATCHES "undefined")
    # An address whose predicate is false is never used, and may come from a null pointer: a branch would part the warp.
    list(APPEND options -fno-sanitize=null,pointer-overflow)
  endif()
  set_source_files_properties(${ARGN} PROPERTIES
    COMPILE_OPTIONS "${options}"
    INCLUDE_DIRECTORIES ${PROJECT_SOURCE_DIR}/tests/emulation/cuda SKIP_PRECOMPILE_HEADERS ON)
endfunction()

function(baton_add_mpi_runs prefix binary)
  cmake_parse_arguments(RUN "WAITS" "TIMEOUT" "RANKS;ENV" ${ARGN})
  if(NOT RUN_TIMEOUT)
    set(RUN_TIMEOUT 120)
  endif()
  if(BATON_SANITIZE)
    # Sanitized code is several times slower: larger limits, fewer of the large cases, and of the numbers of ranks 1 and 3
    # (or what comes next), which show most.
    math(EXPR RUN_TIMEOUT "3 * ${RUN_TIMEOUT}")
    list(APPEND RUN_ENV BATON_TEST_QUICK=1)
    foreach(ranks IN ITEMS 3 4 2)
      if(ranks IN_LIST RUN_RANKS)
        list(FILTER RUN_RANKS INCLUDE REGEX "^(1|${ranks})$")
        break()
      endif()
    endforeach()
  endif()
  # The launcher ends the job a little before ctest would, because it knows all of its processes.
  math(EXPR job_seconds "${RUN_TIMEOUT} - 5")
  foreach(ranks IN LISTS RUN_RANKS)
    set(test ${prefix}.np${ranks})
    add_test(NAME ${test} COMMAND ${BATON_MPIRUN} ${ranks} ${job_seconds} $<TARGET_FILE:${binary}>)
    # PROCESSORS keeps `ctest -j` from starting more ranks at once than the machine has cores.
    set(processors ${ranks})
    set(cost 0)
    set(locks "")
    if(RUN_WAITS)
      set(processors 1)
      set(cost 1000)
      list(APPEND locks waits)
    endif()
    if(BATON_WITH_CUDA)
      list(APPEND locks ${BATON_GPU_LOCK})
    endif()
    set_tests_properties(${test} PROPERTIES
      PROCESSORS ${processors} TIMEOUT ${RUN_TIMEOUT} SKIP_RETURN_CODE 77 LABELS mpi COST ${cost}
      RESOURCE_LOCK "${locks}" ENVIRONMENT "MPIEXEC=${MPIEXEC_EXECUTABLE};${RUN_ENV}")
    if(BATON_SANITIZE MATCHES "address")
      # What Open MPI keeps is told by its libraries in the stack (sanitizers/lsan.supp). They have no frame pointers, and
      # stacks without them are slow to take: for these tests only, and ten calls deep.
      set_tests_properties(${test} PROPERTIES
        ENVIRONMENT_MODIFICATION ASAN_OPTIONS=string_append::fast_unwind_on_malloc=0:malloc_context_size=10)
    endif()
    if(BATON_WITH_CUDA)
      set_property(TEST ${test} APPEND PROPERTY LABELS gpu)
    endif()
  endforeach()
endfunction()

function(baton_mpi_test name)
  cmake_parse_arguments(TEST "OWN_MAIN;WAITS" "TIMEOUT" "SOURCES;LIBRARIES;RANKS" ${ARGN})
  add_executable(mpi_${name} ${TEST_SOURCES})
  set_target_properties(mpi_${name} PROPERTIES OUTPUT_NAME ${name})
  set(support baton_test_main)
  if(TEST_OWN_MAIN)
    set(support baton_test_support)
  endif()
  target_link_libraries(mpi_${name} PRIVATE ${support} ${TEST_LIBRARIES})
  baton_test_code(mpi_${name})
  set(waits "")
  if(TEST_WAITS)
    set(waits WAITS)
  endif()
  baton_add_mpi_runs(${name} mpi_${name} RANKS ${TEST_RANKS} TIMEOUT ${TEST_TIMEOUT} ${waits})
endfunction()

function(baton_mpi_variant name variant)
  if(NOT BATON_SANITIZE MATCHES "thread")
    baton_add_mpi_runs(${name}.${variant} mpi_${name} ${ARGN})
  endif()
endfunction()

function(baton_discover_gpu_tests target)
  set(properties TIMEOUT 300 LABELS gpu)
  if(BATON_GPU_LOCK)
    list(APPEND properties RESOURCE_LOCK ${BATON_GPU_LOCK})
  endif()
  gtest_discover_tests(${target} ${ARGN} TEST_LIST ${target}_gpu DISCOVERY_TIMEOUT 60 PROPERTIES ${properties})
endfunction()

function(baton_discover_tests target)
  cmake_parse_arguments(TEST "" "PREFIX;GPU_TESTS" "PROPERTIES" ${ARGN})
  if(TEST_GPU_TESTS AND BATON_WITH_CUDA)
    baton_discover_gpu_tests(${target} TEST_PREFIX ${TEST_PREFIX}. TEST_FILTER "${TEST_GPU_TESTS}")
  endif()
  if(NOT BATON_SANITIZE)
    gtest_discover_tests(${target} TEST_PREFIX ${TEST_PREFIX}. TEST_FILTER "-${TEST_GPU_TESTS}" DISCOVERY_TIMEOUT 60
                         PROPERTIES ${TEST_PROPERTIES})
    return()
  endif()
  set(many *8Ranks*:*/host_8_*)
  if(BATON_SANITIZE MATCHES "thread")
    string(APPEND many :*5Ranks*:*6Ranks*:*7Ranks*)
  endif()
  set(shards 4)
  math(EXPR last "${shards} - 1")
  foreach(shard RANGE ${last})
    set(test ${TEST_PREFIX}.shard${shard})
    add_test(NAME ${test} COMMAND ${target} "--gtest_filter=-${TEST_GPU_TESTS}:${many}")
    set_tests_properties(${test} PROPERTIES ${TEST_PROPERTIES} TIMEOUT 900
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${shards};GTEST_SHARD_INDEX=${shard};BATON_TEST_QUICK=1")
  endforeach()
endfunction()

function(baton_unit_test name)
  cmake_parse_arguments(TEST "NO_SHARED" "" "SOURCES;LIBRARIES" ${ARGN})
  if(NOT TEST_NO_SHARED)
    list(APPEND TEST_LIBRARIES Baton::baton)
  endif()
  add_executable(unit_${name} ${TEST_SOURCES})
  set_target_properties(unit_${name} PROPERTIES OUTPUT_NAME ${name})
  target_link_libraries(unit_${name} PRIVATE
    ${TEST_LIBRARIES} baton_options MPI::MPI_CXX fmt::fmt GTest::gtest_main GTest::gmock)
  baton_test_code(unit_${name})
  add_test(NAME ${name} COMMAND unit_${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT 60 LABELS unit)
endfunction()
