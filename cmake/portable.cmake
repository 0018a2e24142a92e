# The program as packages carry it, which has to run wherever they may be installed: what it is linked with is inside, but
# for glibc and libgcc_s, which every system and every Python of a manylinux wheel has (this machine's archive of libgcc
# needs glibc 2.35); start_fast.cmake does the rest. scripts/package sets
#
#   ELFAUDIT_OLD_GLIBC   a folder with the libc6 and libc6-dev of the oldest Debian to run on. The objects are made with
#                        this machine's headers, and linked with that one's libraries: glibc keeps old symbols and
#                        their meaning for good.
#
# and CMAKE_PREFIX_PATH to where it has built a static libzip, which Debian does not have.
set(ELFAUDIT_OLD_GLIBC "" CACHE PATH "The unpacked libc6 and libc6-dev to link a portable program with; empty: this machine's")

# Before the libraries are looked for.
macro(elfaudit_look_for_archives)
  list(PREPEND CMAKE_FIND_LIBRARY_SUFFIXES .a)
endmacro()

function(elfaudit_link_portable program)
  target_link_options(${program} PRIVATE -Wl,--gc-sections,--as-needed -s)
  if(ELFAUDIT_OLD_GLIBC)
    set(folder lib/${CMAKE_LIBRARY_ARCHITECTURE})
    target_sources(${program} PRIVATE ${PROJECT_SOURCE_DIR}/cmake/old_glibc.c)
    target_link_options(${program} PRIVATE --sysroot=${ELFAUDIT_OLD_GLIBC} -B${ELFAUDIT_OLD_GLIBC}/usr/${folder}/
      -Wl,--allow-shlib-undefined)  # this machine's libgcc_s needs its glibc, that of the machine to run on does not
    target_link_libraries(${program} PRIVATE ${ELFAUDIT_OLD_GLIBC}/${folder}/libpthread.so.0
      ${ELFAUDIT_OLD_GLIBC}/${folder}/libdl.so.2)
    set_target_properties(${program} PROPERTIES SKIP_BUILD_RPATH ON)  # it runs here with this machine's glibc
  endif()
endfunction()

# glibc inside as well, this machine's: it runs on systems without any. That is sound here since the program loads no
# library (libzip is an archive), asks for no user, host or character set by name, and keeps to the C locale: all that
# glibc would open a shared object for. It is loaded anywhere, like the other.
#
# Neither -pie nor -static-libstdc++ may be beside -static-pie: with them g++ links libc.so after all.
function(elfaudit_link_static program)
  list(REMOVE_ITEM ELFAUDIT_HARDENED_LINK -pie)
  target_link_options(${program} PRIVATE -static-pie ${ELFAUDIT_HARDENED_LINK} -Wl,--gc-sections -s)
endfunction()
