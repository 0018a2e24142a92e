# Compiles for 64-bit ARM on Debian or Ubuntu, with g++-aarch64-linux-gnu and the -dev packages of architecture arm64:
#
#   cmake --preset release --toolchain cmake/aarch64.cmake
set(CMAKE_SYSTEM_PROCESSOR aarch64)
include(${CMAKE_CURRENT_LIST_DIR}/debian_cross.cmake)
