# What the program itself is linked with. With a shared libstdc++ and eight more libraries the dynamic linker takes longer
# than the work on a small link: `check a.o b.o` takes 2.0 ms instead of 2.8, so the program carries what there is an
# archive of. The library that is installed leaves the choice to its users.
#
# ELFAUDIT_SHARED_LIBRARIES: what the library needs.
# ELFAUDIT_LIBRARIES: the same as it is linked here, archives first of all.
# ELFAUDIT_RUNTIME: the linker's options for the C++ runtime.
option(ELFAUDIT_START_FAST "Link the program with archives of its libraries and of the C++ runtime" ON)

set(ELFAUDIT_SHARED_LIBRARIES PkgConfig::LIBDW PkgConfig::ELFUTILS PkgConfig::ZSTD PkgConfig::LZ4 ZLIB::ZLIB fmt::fmt)
set(ELFAUDIT_LIBRARIES ${ELFAUDIT_SHARED_LIBRARIES})
set(ELFAUDIT_RUNTIME)
# The sanitizers' own runtimes want the shared ones.
if(NOT ELFAUDIT_START_FAST OR ELFAUDIT_SANITIZE OR ELFAUDIT_TSAN)
  return()
endif()

# Puts an archive in the place of a shared library, where there is one.
macro(elfaudit_prefer_archive shared file)
  find_library(ELFAUDIT_${file} ${file} HINTS ${ARGN})
  if(ELFAUDIT_${file})
    string(REPLACE "${shared}" "${ELFAUDIT_${file}}" ELFAUDIT_LIBRARIES "${ELFAUDIT_LIBRARIES}")
  endif()
endmacro()
elfaudit_prefer_archive(PkgConfig::LIBDW libdw.a ${LIBDW_LIBRARY_DIRS})
elfaudit_prefer_archive(PkgConfig::ELFUTILS libelf.a ${ELFUTILS_LIBRARY_DIRS})
elfaudit_prefer_archive(PkgConfig::ZSTD libzstd.a ${ZSTD_LIBRARY_DIRS})
elfaudit_prefer_archive(PkgConfig::LZ4 liblz4.a ${LZ4_LIBRARY_DIRS})
elfaudit_prefer_archive(ZLIB::ZLIB libz.a)

# Debian has no libfmt.a, but fmt's headers hold all of it. What has to be instantiated differs from version to version.
get_target_property(ELFAUDIT_FMT_FOLDER fmt::fmt INTERFACE_INCLUDE_DIRECTORIES)
try_compile(ELFAUDIT_FMT_BUILDS ${PROJECT_BINARY_DIR}/fmt_builds
  SOURCES ${PROJECT_SOURCE_DIR}/cmake/fmt.cpp ${PROJECT_SOURCE_DIR}/cmake/fmt_user.cpp
  CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${ELFAUDIT_FMT_FOLDER}" CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON)
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_LINK_OPTIONS -static-libstdc++ -static-libgcc)
check_cxx_source_compiles("#include <iostream>\nint main() { std::cout << 1; }" ELFAUDIT_RUNTIME_HAS_ARCHIVE)
unset(CMAKE_REQUIRED_LINK_OPTIONS)
# libfmt.so wants the shared runtime.
if(ELFAUDIT_FMT_BUILDS AND ELFAUDIT_RUNTIME_HAS_ARCHIVE)
  add_library(elfaudit_fmt STATIC cmake/fmt.cpp)
  target_include_directories(elfaudit_fmt SYSTEM PUBLIC ${ELFAUDIT_FMT_FOLDER})
  string(REPLACE fmt::fmt elfaudit_fmt ELFAUDIT_LIBRARIES "${ELFAUDIT_LIBRARIES}")
  set(ELFAUDIT_RUNTIME -static-libstdc++ $<$<NOT:$<BOOL:${ELFAUDIT_PORTABLE}>>:-static-libgcc>)
endif()
