# Compiles for 64-bit RISC-V on Debian 13 or later, with g++-riscv64-linux-gnu and the -dev packages of architecture riscv64:
#
#   cmake --preset release --toolchain cmake/riscv64.cmake
set(CMAKE_SYSTEM_PROCESSOR riscv64)
include(${CMAKE_CURRENT_LIST_DIR}/debian_cross.cmake)
