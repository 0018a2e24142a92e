# `cmake --install`: the program, the static library with its headers, and what finds them: a CMake package and a
# pkg-config file. Both are relocatable: nothing in them names the prefix. Packages take parts of it, by component:
#
#   program      the program
#   static       the same with glibc inside, where there is one (portable.cmake); in no installation but by name
#   cmake        the CMake package, without its target
#   interface    the man page and the completions (interface.cmake)
#   license      LICENSE, and the licences of what a portable program has inside
#   development  the library, its headers, the CMake package's target, the pkg-config file
include(CMakePackageConfigHelpers)
set(ELFAUDIT_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/elfaudit)

# pip copies a wheel's programs from a folder of their own to the environment's bin.
if(DEFINED SKBUILD)
  install(TARGETS elfaudit_program DESTINATION ${SKBUILD_SCRIPTS_DIR} COMPONENT program)
  set(ELFAUDIT_CMAKE_DIR lib/cmake/elfaudit)
  set(CMAKE_INSTALL_BINDIR bin)
  set(ELFAUDIT_CMAKE_INSTALL ${SKBUILD_DATA_DIR}/${ELFAUDIT_CMAKE_DIR})
else()
  install(TARGETS elfaudit_program COMPONENT program)
  if(ELFAUDIT_PORTABLE)  # found below a prefix by any system's CMake
    set(ELFAUDIT_CMAKE_DIR lib/cmake/elfaudit)
  endif()
  set(ELFAUDIT_CMAKE_INSTALL ${ELFAUDIT_CMAKE_DIR})
endif()
if(ELFAUDIT_PORTABLE)
  install(TARGETS elfaudit_static COMPONENT static EXCLUDE_FROM_ALL)
  install(FILES packaging/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT license)
endif()
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT license)

install(TARGETS elfaudit EXPORT elfaudit COMPONENT development)
install(DIRECTORY include/elfaudit DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development FILES_MATCHING PATTERN "*.hpp")
install(FILES ${PROJECT_BINARY_DIR}/generated/elfaudit/version.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/elfaudit
  COMPONENT development)
install(EXPORT elfaudit NAMESPACE elfaudit:: FILE elfauditTargets.cmake DESTINATION ${ELFAUDIT_CMAKE_DIR} COMPONENT development)
configure_package_config_file(cmake/elfauditConfig.cmake.in ${PROJECT_BINARY_DIR}/generated/elfauditConfig.cmake
  INSTALL_DESTINATION ${ELFAUDIT_CMAKE_DIR})
# Before 1.0 a new minor version may break the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/generated/elfauditConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/generated/elfauditConfig.cmake ${PROJECT_BINARY_DIR}/generated/elfauditConfigVersion.cmake
  cmake/elfauditAudit.cmake DESTINATION ${ELFAUDIT_CMAKE_INSTALL} COMPONENT cmake)

# From lib/pkgconfig back to the prefix, whatever CMAKE_INSTALL_LIBDIR is (lib/x86_64-linux-gnu on Debian under /usr).
file(RELATIVE_PATH ELFAUDIT_PREFIX_FROM_PC /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" ELFAUDIT_PREFIX_FROM_PC "${ELFAUDIT_PREFIX_FROM_PC}")
configure_file(cmake/elfaudit.pc.in ${PROJECT_BINARY_DIR}/generated/elfaudit.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/generated/elfaudit.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
