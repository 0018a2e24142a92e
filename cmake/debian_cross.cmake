# For toolchain files: compiles with Debian's cross compiler for CMAKE_SYSTEM_PROCESSOR, and finds what is installed for
# that architecture. Its programs run in an emulator, if there is one.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_C_COMPILER ${CMAKE_SYSTEM_PROCESSOR}-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER ${CMAKE_SYSTEM_PROCESSOR}-linux-gnu-g++)
set(CMAKE_OBJDUMP ${CMAKE_SYSTEM_PROCESSOR}-linux-gnu-objdump)
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/${CMAKE_SYSTEM_PROCESSOR}-linux-gnu/pkgconfig:/usr/share/pkgconfig)
find_program(qemu qemu-${CMAKE_SYSTEM_PROCESSOR})
if(qemu)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${qemu})
endif()
