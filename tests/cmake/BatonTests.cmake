# baton_mpi_test(NAME SOURCES files... RANKS counts... [TIMEOUT seconds] [LABELS labels...] [SERIAL]): one binary on the MPI
# main of tests/support, and a ctest `NAME.npN` for every rank count N. The same binary runs on host memory and on GPUs;
# with CUDA in the build its tests carry the label `gpu` too. The target is mpi_NAME.
#
# baton_mpi_variant(NAME VARIANT RANKS counts... ENV settings... [TIMEOUT seconds] [LABELS labels...]): the same binary
# again as `NAME.VARIANT.npN`, under other environment variables: how tests force one algorithm or transport.
#
# baton_unit_test(NAME SOURCES files... [LIBRARIES targets...] [LABELS labels...]): a binary without MPI ranks
# and GPUs on GoogleTest's main. The target is unit_NAME.
include_guard()

set(BATON_MPIRUN ${CMAKE_CURRENT_LIST_DIR}/mpirun.sh)
set(BATON_REFUSED ${CMAKE_CURRENT_LIST_DIR}/refused.sh)

function(baton_add_mpi_runs prefix binary)
  cmake_parse_arguments(RUN "SERIAL" "TIMEOUT" "RANKS;LABELS;ENV" ${ARGN})
  if(NOT RUN_TIMEOUT)
    set(RUN_TIMEOUT 120)
  endif()
  if(BATON_SANITIZE)
    # Sanitized code is several times slower: the rank counts that show most, larger limits, fewer of the large cases.
    math(EXPR RUN_TIMEOUT "3 * ${RUN_TIMEOUT}")
    list(APPEND RUN_ENV BATON_TEST_QUICK=1)
    set(fewer ${RUN_RANKS})
    list(FILTER fewer EXCLUDE REGEX "^(2|8)$")
    if(fewer)
      set(RUN_RANKS ${fewer})
    endif()
  endif()
  # The launcher ends the job a little before ctest would, because it knows all of its processes.
  math(EXPR job_seconds "${RUN_TIMEOUT} - 5")
  foreach(ranks IN LISTS RUN_RANKS)
    set(test ${prefix}.np${ranks})
    add_test(NAME ${test} COMMAND ${BATON_MPIRUN} ${ranks} ${job_seconds} $<TARGET_FILE:${binary}>)
    # PROCESSORS keeps `ctest -j` from starting more ranks at once than the machine has cores.
    set_tests_properties(${test} PROPERTIES
      PROCESSORS ${ranks} TIMEOUT ${RUN_TIMEOUT} SKIP_RETURN_CODE 77 LABELS "mpi;${RUN_LABELS}" RUN_SERIAL "${RUN_SERIAL}"
      ENVIRONMENT "MPIEXEC=${MPIEXEC_EXECUTABLE};${RUN_ENV}")
    if(BATON_WITH_CUDA)
      set_property(TEST ${test} APPEND PROPERTY LABELS gpu)
      set_property(TEST ${test} PROPERTY RESOURCE_LOCK gpu)
    endif()
  endforeach()
endfunction()

function(baton_mpi_test name)
  cmake_parse_arguments(TEST "SERIAL" "TIMEOUT" "SOURCES;RANKS;LABELS" ${ARGN})
  add_executable(mpi_${name} ${TEST_SOURCES})
  set_target_properties(mpi_${name} PROPERTIES OUTPUT_NAME ${name})
  target_link_libraries(mpi_${name} PRIVATE baton_test_main)
  set(serial)
  if(TEST_SERIAL)
    set(serial SERIAL)
  endif()
  baton_add_mpi_runs(${name} mpi_${name} RANKS ${TEST_RANKS} TIMEOUT ${TEST_TIMEOUT} LABELS ${TEST_LABELS} ${serial})
endfunction()

function(baton_mpi_variant name variant)
  cmake_parse_arguments(TEST "" "TIMEOUT" "RANKS;LABELS;ENV" ${ARGN})
  baton_add_mpi_runs(${name}.${variant} mpi_${name} RANKS ${TEST_RANKS} TIMEOUT ${TEST_TIMEOUT} LABELS ${TEST_LABELS}
                     ENV ${TEST_ENV})
endfunction()

function(baton_unit_test name)
  cmake_parse_arguments(TEST "" "" "SOURCES;LABELS;LIBRARIES" ${ARGN})
  add_executable(unit_${name} ${TEST_SOURCES})
  set_target_properties(unit_${name} PROPERTIES OUTPUT_NAME ${name})
  target_link_libraries(unit_${name} PRIVATE
    ${TEST_LIBRARIES} Baton::baton baton_options fmt::fmt GTest::gtest_main GTest::gmock)
  add_test(NAME ${name} COMMAND unit_${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT 60 LABELS "unit;${TEST_LABELS}")
endfunction()
