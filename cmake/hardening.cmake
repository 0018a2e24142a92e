# A hardened program, since it reads files from anywhere: loaded at an address that is not known, its tables read-only once
# it runs, the stack and the string functions checked, jumps only to where jumps lead. What a compiler or a machine does
# not have is left out. The sanitizers check more than this and want to be alone.
option(ELFAUDIT_HARDEN "Build a hardened program" ON)
if(NOT ELFAUDIT_HARDEN OR ELFAUDIT_SANITIZE OR ELFAUDIT_TSAN OR ELFAUDIT_FUZZ)
  return()
endif()

include(CheckCXXCompilerFlag)
foreach(flag -fstack-protector-strong -fstack-clash-protection -fcf-protection)
  string(MAKE_C_IDENTIFIER "ELFAUDIT_HAS${flag}" has)
  check_cxx_compiler_flag(${flag} ${has})
  if(${has})
    target_compile_options(elfaudit_flags INTERFACE ${flag})
  endif()
endforeach()
# As an option, since Ubuntu's compilers define another level; it needs an optimiser.
target_compile_options(elfaudit_flags INTERFACE
  $<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE> $<$<NOT:$<CONFIG:Debug>>:-D_FORTIFY_SOURCE=3>)
if(NOT CMAKE_POSITION_INDEPENDENT_CODE)  # who wants the library in a shared object has that on, which is more
  target_compile_options(elfaudit_flags INTERFACE -fPIE)
endif()
set(ELFAUDIT_HARDENED_LINK -pie -Wl,-z,relro,-z,now,-z,noexecstack)
