# Compiles for 64-bit RISC-V on Debian 13 or later, with g++-riscv64-linux-gnu and the -dev packages of architecture riscv64:
#
#   cmake --preset release --toolchain cmake/riscv64.cmake
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR riscv64)
set(CMAKE_C_COMPILER riscv64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER riscv64-linux-gnu-g++)
set(CMAKE_OBJDUMP riscv64-linux-gnu-objdump)
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/riscv64-linux-gnu/pkgconfig:/usr/share/pkgconfig)
find_program(qemu qemu-riscv64)
if(qemu)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${qemu})
endif()
