# elfaudit_audit(TARGET target [GPU_ARCH arch...] [FAIL_ON error|warning|note] [OPTIONS word...] [WARN_ONLY] [INDEX])
#
# Audits what `target` is linked from each time it is linked, and before: a link that has findings is not made, and the
# report says which header did it. With CUDA_SEPARABLE_COMPILATION the device link is audited as well, before nvlink
# runs. The objects of a static library are audited before they are put into the archive.
#
#   GPU_ARCH   what every file with device code should hold, as for `elfaudit check --gpu-arch`
#   FAIL_ON    the least severity that stops the link; error if not given
#   OPTIONS    more options of `elfaudit link`
#   WARN_ONLY  report, and never stop the link
#   INDEX      read the target's objects when they are compiled, and of each only a.o.facts when the target is linked
#
# For the Ninja and Makefile generators; CMake 3.22 and later.

# The audit comes before the link commands: RULE_LAUNCH_LINK is what both generators put there for every language,
# for CUDA's device link too (CMAKE_<LANG>_LINKER_LAUNCHER knows CUDA since CMake 4.1, and no device link). PRE_LINK
# commands run only after the device link.
function(elfaudit_audit)
  cmake_parse_arguments(PARSE_ARGV 0 audit "WARN_ONLY;INDEX" "TARGET;FAIL_ON" "GPU_ARCH;OPTIONS")
  if(audit_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "elfaudit_audit: there is no argument ${audit_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT audit_TARGET)
    message(FATAL_ERROR "elfaudit_audit: no TARGET")
  endif()
  if(NOT TARGET ${audit_TARGET})
    message(FATAL_ERROR "elfaudit_audit: there is no target ${audit_TARGET}")
  endif()
  get_target_property(target ${audit_TARGET} ALIASED_TARGET)
  if(NOT target)
    set(target ${audit_TARGET})
  endif()
  if(NOT CMAKE_GENERATOR MATCHES "Ninja|Makefiles")
    message(FATAL_ERROR "elfaudit_audit: ${CMAKE_GENERATOR} is not a Ninja or Makefile generator")
  endif()

  set(options ${audit_OPTIONS})
  if(audit_FAIL_ON)
    list(APPEND options --fail-on ${audit_FAIL_ON})
  endif()
  if(audit_GPU_ARCH)
    string(REGEX REPLACE "\\\\?;" "," archs "${audit_GPU_ARCH}")  # "8.0;9.0a" comes as one word
    list(APPEND options --gpu-arch ${archs})
  endif()

  get_target_property(type ${target} TYPE)
  get_target_property(imported ${target} IMPORTED)
  if(imported OR NOT type MATCHES "^(EXECUTABLE|SHARED_LIBRARY|MODULE_LIBRARY|STATIC_LIBRARY)$")
    message(FATAL_ERROR "elfaudit_audit: ${target} is not linked by this project: it is audited as part of what links it")
  endif()
  if(NOT audit_WARN_ONLY)
    list(PREPEND options --gate)
  endif()
  if(audit_INDEX)
    list(PREPEND options --facts)
    _elfaudit_index(${target} "${options}")
  endif()
  set(launcher "")
  set(words ${ELFAUDIT_EXECUTABLE} link ${options} --)
  foreach(word IN LISTS words)
    _elfaudit_quote(word)
    string(APPEND launcher "${word} ")
  endforeach()
  string(STRIP "${launcher}" launcher)
  # What is there already, for the target, its folder or all, would be replaced.
  get_target_property(before ${target} RULE_LAUNCH_LINK)
  if(NOT before)
    get_property(before DIRECTORY PROPERTY RULE_LAUNCH_LINK)
  endif()
  if(NOT before)
    get_property(before GLOBAL PROPERTY RULE_LAUNCH_LINK)
  endif()
  if(before MATCHES "(^|/)(ccache|sccache|distcc|icecc)( |$)")
    set(launcher "${launcher} ${before}")
  elseif(before)  # ctest's, or any other, which elfaudit would not know behind itself
    set(launcher "${before} ${launcher}")
  endif()
  set_property(TARGET ${target} PROPERTY RULE_LAUNCH_LINK "${launcher}")
endfunction()

# Facts are written where an object is: by the command that compiles it, in front of what launches the compiler (ccache,
# distcc), so that the depfile of that says when both are made again.
function(_elfaudit_index target options)
  set(index ${ELFAUDIT_EXECUTABLE} index)
  if("${options}" MATCHES "divergent-definition=on|--enable[;=]divergent-definition")
    list(APPEND index --types)
  endif()
  foreach(language C CXX CUDA HIP OBJC OBJCXX)
    get_target_property(before ${target} ${language}_COMPILER_LAUNCHER)
    if(NOT before)
      set(before "")
    endif()
    set_property(TARGET ${target} PROPERTY ${language}_COMPILER_LAUNCHER ${index} -- ${before})
  endforeach()
endfunction()

# For the shell that ninja and make start, and for CMake's own reading of the launcher.
macro(_elfaudit_quote variable)
  if(${variable} MATCHES "[\"'\\$<>`\\\\]")
    message(FATAL_ERROR "elfaudit_audit: ${${variable}} has a character that a launcher can't have")
  endif()
  if(NOT ${variable} MATCHES "^[A-Za-z0-9_./=+,:@%-]+$")
    set(${variable} "\"${${variable}}\"")
  endif()
endmacro()
