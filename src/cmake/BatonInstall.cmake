# What `cmake --install` gives: headers, libbaton.so, the benchmarks and tools, the CMake package Baton and baton.pc.
# The installed tree may be moved as a whole: nothing in it names the prefix.
include(CMakePackageConfigHelpers)

set(programs "")
if(BATON_BUILD_BENCHMARKS)
  get_property(targets DIRECTORY benchmarks PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "EXECUTABLE" AND target MATCHES "^baton_")
      list(APPEND programs ${target})
    endif()
  endforeach()
endif()
add_custom_target(baton_installed DEPENDS baton ${programs})

# Before anything is copied: ./quickstart builds one of the programs, and half an installation would go unnoticed.
list(TRANSFORM programs REPLACE ".+" "\"$<TARGET_FILE:\\0>\"" OUTPUT_VARIABLE files)
list(JOIN files " " files)
install(CODE "
  foreach(file IN ITEMS \"$<TARGET_FILE:baton>\" ${files})
    if(NOT EXISTS \"\${file}\")
      message(FATAL_ERROR \"Nothing is installed: \${file} has not been built. First:\\n\"
        \"  cmake --build '${CMAKE_BINARY_DIR}' --target baton_installed\")
    endif()
  endforeach()")

install(TARGETS baton EXPORT BatonTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(programs)
  file(RELATIVE_PATH bin_to_lib ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
  set(rpath "$ORIGIN/${bin_to_lib}" ${CMAKE_INSTALL_RPATH})
  set_target_properties(${programs} PROPERTIES INSTALL_RPATH "${rpath}")
  install(TARGETS ${programs} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(DIRECTORY include/baton DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
if(PROJECT_IS_TOP_LEVEL)
  install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
else()  # that folder may be the outer project's, whose licence has the same name
  install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/${PROJECT_NAME})
endif()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Baton)
install(EXPORT BatonTargets NAMESPACE Baton:: DESTINATION ${package_dir})
export(EXPORT BatonTargets NAMESPACE Baton:: FILE ${PROJECT_BINARY_DIR}/BatonTargets.cmake)  # a build tree is a package, too
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/BatonConfig.cmake.in ${PROJECT_BINARY_DIR}/BatonConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/BatonConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/BatonConfig.cmake ${PROJECT_BINARY_DIR}/BatonConfigVersion.cmake
  DESTINATION ${package_dir})

# MPI's own flags stand in baton.pc as found here: MPI implementations disagree on the names of their .pc files.
file(RELATIVE_PATH BATON_PC_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
file(RELATIVE_PATH BATON_PC_INCLUDEDIR ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_FULL_INCLUDEDIR})
get_target_property(baton_mpi_definitions baton INTERFACE_COMPILE_DEFINITIONS)
list(TRANSFORM baton_mpi_definitions PREPEND "-D" OUTPUT_VARIABLE BATON_PC_MPI_CFLAGS)
foreach(dir IN LISTS MPI_C_INCLUDE_DIRS)
  list(APPEND BATON_PC_MPI_CFLAGS "-I${dir}")
endforeach()
list(JOIN BATON_PC_MPI_CFLAGS " " BATON_PC_MPI_CFLAGS)
list(JOIN MPI_C_LIBRARIES " " BATON_PC_MPI_LIBS)
configure_file(${CMAKE_CURRENT_LIST_DIR}/baton.pc.in ${PROJECT_BINARY_DIR}/baton.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/baton.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
