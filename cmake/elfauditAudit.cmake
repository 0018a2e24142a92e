# elfaudit_audit(TARGET target | TARGETS target... [GPU_ARCH arch...] [FAIL_ON error|warning|note|never]
#                [OPTIONS word...] [WARN_ONLY] [INDEX])
#
# Audits what a target is linked from each time it is linked, and before: a link that has findings is not made, and the
# report says which header did it. With CUDA_SEPARABLE_COMPILATION the device link is audited as well, before nvlink
# runs. The objects of a static library are audited before they are put into the archive.
#
#   GPU_ARCH   what every file with device code should hold, as for `elfaudit check --gpu-arch`
#   FAIL_ON    the least severity that stops the link; error if not given
#   OPTIONS    more options of `elfaudit link`
#   WARN_ONLY  report, and never stop the link
#   INDEX      read the target's objects when they are compiled, and of each only a.o.facts when the target is linked
#
# For the Ninja and Makefile generators; CMake 3.22 and later. Wrong arguments end the configuration.

function(elfaudit_audit)
  set(flags WARN_ONLY INDEX)
  set(values TARGET FAIL_ON)
  set(lists TARGETS GPU_ARCH OPTIONS)
  cmake_parse_arguments(PARSE_ARGV 0 audit "${flags}" "${values}" "${lists}")
  foreach(word IN LISTS audit_UNPARSED_ARGUMENTS)
    if(TARGET ${word} AND audit_TARGET)
      message(FATAL_ERROR "elfaudit_audit: write elfaudit_audit(TARGETS ${audit_TARGET} ${audit_UNPARSED_ARGUMENTS})")
    endif()
    _elfaudit_refuse_argument("${word}" ${flags} ${values} ${lists})
  endforeach()
  foreach(keyword IN LISTS audit_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "elfaudit_audit: ${keyword} has no value")
  endforeach()
  if(NOT audit_TARGET AND NOT audit_TARGETS)
    message(FATAL_ERROR "elfaudit_audit: no TARGET: write elfaudit_audit(TARGET name)")
  endif()
  if(NOT CMAKE_GENERATOR MATCHES "Ninja|Makefiles")
    message(FATAL_ERROR "elfaudit_audit: ${CMAKE_GENERATOR} is not a Ninja or Makefile generator")
  endif()

  set(options ${audit_OPTIONS})
  if(audit_FAIL_ON)
    _elfaudit_check_severity("${audit_FAIL_ON}")
    list(APPEND options --fail-on ${audit_FAIL_ON})
  endif()
  if(audit_GPU_ARCH)
    string(REGEX REPLACE "\\\\?;" "," archs "${audit_GPU_ARCH}")  # "8.0;9.0a" comes as one word
    list(APPEND options --gpu-arch ${archs})
  endif()
  if(NOT audit_WARN_ONLY)
    list(PREPEND options --gate)
  endif()
  if(audit_INDEX)
    list(PREPEND options --facts)
  endif()
  _elfaudit_check_program("${options}")
  foreach(target IN LISTS audit_TARGET audit_TARGETS)
    _elfaudit_check_target(target)
    if(audit_INDEX)
      _elfaudit_index(${target} "${options}")
    endif()
    _elfaudit_launch(${target} "${options}")
  endforeach()
endfunction()

# --- Arguments.

# The arguments after `word` are the keywords that there are.
function(_elfaudit_refuse_argument word)
  if(TARGET ${word})
    message(FATAL_ERROR "elfaudit_audit: write elfaudit_audit(TARGET ${word})")
  endif()
  string(TOUPPER "${word}" wanted)
  string(REGEX REPLACE "[^A-Z]" "" wanted "${wanted}")
  foreach(keyword IN LISTS ARGN)
    string(REPLACE "_" "" plain ${keyword})
    if(wanted STREQUAL plain OR (plain MATCHES "^${wanted}" AND wanted MATCHES "...."))
      message(FATAL_ERROR "elfaudit_audit: there is no argument ${word}; did you mean ${keyword}?")
    endif()
  endforeach()
  list(JOIN ARGN ", " keywords)
  message(FATAL_ERROR "elfaudit_audit: there is no argument ${word}; its arguments are ${keywords}")
endfunction()

function(_elfaudit_check_severity severity)
  set(severities error warning note never)
  if(severity IN_LIST severities)
    return()
  endif()
  string(TOLOWER "${severity}" wanted)
  foreach(known IN LISTS severities)
    if(wanted MATCHES "^${known}" OR (known MATCHES "^${wanted}" AND wanted MATCHES "..."))
      set(suggestion "; did you mean ${known}?")
    endif()
  endforeach()
  message(FATAL_ERROR "elfaudit_audit: FAIL_ON ${severity}: it is error, warning, note or never${suggestion}")
endfunction()

# Replaces an alias by its target.
function(_elfaudit_check_target variable)
  set(target ${${variable}})
  if(NOT TARGET ${target})
    message(FATAL_ERROR "elfaudit_audit: there is no target ${target} (call it after add_executable or add_library)")
  endif()
  get_target_property(aliased ${target} ALIASED_TARGET)
  if(aliased)
    set(target ${aliased})
  endif()
  get_target_property(type ${target} TYPE)
  get_target_property(imported ${target} IMPORTED)
  if(imported)
    set(type "IMPORTED ${type}")
  endif()
  if(NOT type MATCHES "^(EXECUTABLE|SHARED_LIBRARY|MODULE_LIBRARY|STATIC_LIBRARY)$")
    message(FATAL_ERROR "elfaudit_audit: ${target} is not linked by this project (${type}): "
      "name a program or library that links it")
  endif()
  set(${variable} ${target} PARENT_SCOPE)
endfunction()

# The program is there, is of this version, and understands the options. Makes its path absolute.
function(_elfaudit_check_program options)
  if(NOT ELFAUDIT_EXECUTABLE)
    message(FATAL_ERROR "elfaudit_audit: ELFAUDIT_EXECUTABLE is not set: call find_package(elfaudit REQUIRED) first")
  endif()
  get_filename_component(program "${ELFAUDIT_EXECUTABLE}" ABSOLUTE BASE_DIR ${CMAKE_BINARY_DIR})
  if(NOT EXISTS "${program}" OR IS_DIRECTORY "${program}")
    message(FATAL_ERROR "elfaudit_audit: ELFAUDIT_EXECUTABLE names no program: ${ELFAUDIT_EXECUTABLE}")
  endif()
  set(ELFAUDIT_EXECUTABLE ${program} PARENT_SCOPE)
  string(MD5 asked "${program} ${options}")  # once for all targets with the same options
  get_property(known GLOBAL PROPERTY ELFAUDIT_OPTIONS_CHECKED)
  if(asked IN_LIST known)
    return()
  endif()
  execute_process(COMMAND "${program}" --version OUTPUT_VARIABLE answer ERROR_VARIABLE answer RESULT_VARIABLE code)
  string(STRIP "${answer}" answer)
  if(NOT answer MATCHES "^elfaudit ([0-9.]+)")
    message(FATAL_ERROR "elfaudit_audit: ELFAUDIT_EXECUTABLE does not answer --version as elfaudit does: "
      "${ELFAUDIT_EXECUTABLE} (${code}: ${answer})")
  endif()
  if(ELFAUDIT_PACKAGE_VERSION AND NOT CMAKE_MATCH_1 VERSION_EQUAL ELFAUDIT_PACKAGE_VERSION)
    message(FATAL_ERROR "elfaudit_audit: ELFAUDIT_EXECUTABLE is version ${CMAKE_MATCH_1}, and the CMake package "
      "${ELFAUDIT_PACKAGE_VERSION}: ${ELFAUDIT_EXECUTABLE}")
  endif()
  execute_process(COMMAND "${program}" link ${options} --dump-config WORKING_DIRECTORY ${CMAKE_BINARY_DIR}
    OUTPUT_QUIET ERROR_VARIABLE answer RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    string(STRIP "${answer}" answer)
    set(kind FATAL_ERROR)
    if(answer MATCHES "--write-baseline")  # which audits this build, once it is configured
      set(kind WARNING)
    endif()
    message(${kind} "elfaudit_audit: ${answer}")
  endif()
  set_property(GLOBAL APPEND PROPERTY ELFAUDIT_OPTIONS_CHECKED ${asked})
endfunction()

# --- What a target gets.

# The audit comes before the link commands: RULE_LAUNCH_LINK is what both generators put there for every language,
# for CUDA's device link too (CMAKE_<LANG>_LINKER_LAUNCHER knows CUDA since CMake 4.1, and no device link). PRE_LINK
# commands run only after the device link.
function(_elfaudit_launch target options)
  set(launcher "")
  foreach(word IN ITEMS ${ELFAUDIT_EXECUTABLE} link ${options} --)
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
