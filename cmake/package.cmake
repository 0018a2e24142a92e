# `cpack -G DEB` in a build folder: the Debian package elfaudit, and of an ordinary build libelfaudit-dev too, for the
# release that it is made on. Of a portable build (scripts/package) there is no library, since the objects in it want
# this machine's libraries; its elfaudit runs on any Debian and Ubuntu from glibc 2.31 on, and `cpack -G TGZ` packs the
# static program. packaging/stage.cmake has what becomes of the files before they are packed.
set(CPACK_PACKAGE_NAME elfaudit)
set(CPACK_PACKAGE_VENDOR elfaudit)
set(CPACK_PACKAGE_CONTACT "elfaudit maintainers <elfaudit@users.noreply.github.com>" CACHE STRING "The maintainer of the Debian packages")
set(CPACK_PACKAGE_FILE_NAME elfaudit-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_GENERATOR DEB)
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/packaging/options.cmake)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/packaging/stage.cmake)
set(CPACK_ELFAUDIT_COPYRIGHT ${PROJECT_SOURCE_DIR}/packaging/copyright)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_COMPONENTS_ALL program cmake interface)

set(CPACK_DEBIAN_TOOL_PACKAGE_NAME elfaudit)
set(CPACK_DEBIAN_TOOL_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_TOOL_PACKAGE_RECOMMENDS "libarchive13 | libarchive13t64")  # loaded by its soname, for .deb files
set(CPACK_COMPONENT_TOOL_DESCRIPTION "Reads objects, archives, shared objects, wheels and whole link commands, and
says before the link what the linker will reject: duplicate and undefined
symbols, mismatched versions and device code, with the header and line that
make it so, and what to edit. It never runs the linker.")
file(GLOB loader ${ELFAUDIT_OLD_GLIBC}/lib/${CMAKE_LIBRARY_ARCHITECTURE}/ld-2.*.so)
if(ELFAUDIT_PORTABLE AND loader MATCHES "ld-(2\\.[0-9]+)\\.so$")
  # dpkg-shlibdeps goes by the libraries of this machine, whose glibc has moved old symbols: it would ask for 2.34.
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS OFF)
  set(CPACK_DEBIAN_TOOL_PACKAGE_DEPENDS "libc6 (>= ${CMAKE_MATCH_1}), libgcc-s1")
endif()
if(LIBZIP_SONAME)
  # Loaded by its soname, so that dpkg-shlibdeps does not see it.
  execute_process(COMMAND dpkg-query -S */${LIBZIP_SONAME} OUTPUT_VARIABLE owner OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(owner MATCHES "^([a-z0-9.+-]+)")
    set(CPACK_DEBIAN_TOOL_PACKAGE_DEPENDS ${CMAKE_MATCH_1})
  endif()
endif()

if(NOT ELFAUDIT_PORTABLE)
  list(APPEND CPACK_COMPONENTS_ALL development)
  set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libelfaudit-dev)
  set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libdevel)
  set(CPACK_DEBIAN_LIBRARY_PACKAGE_SHLIBDEPS OFF)
  # fmt's namespace has its major version in it: the archive links with that one alone.
  string(REGEX MATCH "^[0-9]+" fmt_major "${fmt_VERSION}")
  math(EXPR fmt_next "${fmt_major} + 1")
  set(CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS "elfaudit (= ${PROJECT_VERSION}), libfmt-dev (>= ${fmt_major}), libfmt-dev (<< ${fmt_next}~), libdw-dev, libelf-dev, liblz4-dev, libzstd-dev, zlib1g-dev, pkg-config | pkgconf")
  set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "What elfaudit is made of, as a static library with its headers, a CMake
package and a pkg-config file: audits as a function of a C++20 program.")
endif()

include(CPack)
cpack_add_component_group(tool)
cpack_add_component_group(library)
foreach(component program cmake interface)
  cpack_add_component(${component} GROUP tool)
endforeach()
cpack_add_component(development GROUP library)
