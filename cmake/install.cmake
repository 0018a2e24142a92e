# `cmake --install`: the program, the static library with its headers, and what finds them: a CMake package and a
# pkg-config file. Both are relocatable: nothing in them names the prefix.
include(CMakePackageConfigHelpers)
set(ELFAUDIT_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/elfaudit)

# A wheel takes the component "program" alone, and has its programs in a folder that pip copies to the environment's bin.
if(ELFAUDIT_WHEEL)
  install(TARGETS elfaudit_program DESTINATION ${SKBUILD_SCRIPTS_DIR} COMPONENT program)
  set(ELFAUDIT_CMAKE_DIR lib/cmake/elfaudit)
  set(CMAKE_INSTALL_BINDIR bin)
  set(ELFAUDIT_CMAKE_INSTALL ${SKBUILD_DATA_DIR}/${ELFAUDIT_CMAKE_DIR})
else()
  install(TARGETS elfaudit_program COMPONENT program)
  set(ELFAUDIT_CMAKE_INSTALL ${ELFAUDIT_CMAKE_DIR})
endif()
install(TARGETS elfaudit EXPORT elfaudit)
install(DIRECTORY include/elfaudit DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
install(FILES ${PROJECT_BINARY_DIR}/generated/elfaudit/version.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/elfaudit)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

install(EXPORT elfaudit NAMESPACE elfaudit:: FILE elfauditTargets.cmake DESTINATION ${ELFAUDIT_CMAKE_DIR})
configure_package_config_file(cmake/elfauditConfig.cmake.in ${PROJECT_BINARY_DIR}/generated/elfauditConfig.cmake
  INSTALL_DESTINATION ${ELFAUDIT_CMAKE_DIR})
# Before 1.0 a new minor version may break the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/generated/elfauditConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/generated/elfauditConfig.cmake ${PROJECT_BINARY_DIR}/generated/elfauditConfigVersion.cmake
  cmake/elfauditAudit.cmake DESTINATION ${ELFAUDIT_CMAKE_INSTALL} COMPONENT program)

# From lib/pkgconfig back to the prefix, whatever CMAKE_INSTALL_LIBDIR is (lib/x86_64-linux-gnu on Debian under /usr).
file(RELATIVE_PATH ELFAUDIT_PREFIX_FROM_PC /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" ELFAUDIT_PREFIX_FROM_PC "${ELFAUDIT_PREFIX_FROM_PC}")
configure_file(cmake/elfaudit.pc.in ${PROJECT_BINARY_DIR}/generated/elfaudit.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/generated/elfaudit.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
