# Embeds files of the source tree into the program: the pages of the rules, the table of the causes, the parts of the
# HTML report and the data tables. src/support/file.hpp gives the code their text by their path.
#
# Included from CMakeLists.txt it adds the command that writes generated/embedded_files.cpp. That command runs this same
# file: cmake -DROOT=the source tree -DOUTPUT=embedded_files.cpp -P embed_files.cmake
set(patterns data/*.txt docs/causes.md docs/rules/*.md src/report/page/*)

if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(ELFAUDIT_EMBEDDED_FILES ${PROJECT_BINARY_DIR}/generated/embedded_files.cpp)
  file(GLOB files CONFIGURE_DEPENDS ${patterns})
  add_custom_command(OUTPUT ${ELFAUDIT_EMBEDDED_FILES}
    COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DOUTPUT=${ELFAUDIT_EMBEDDED_FILES} -P ${CMAKE_CURRENT_LIST_FILE}
    DEPENDS ${CMAKE_CURRENT_LIST_FILE} ${files} VERBATIM)
  # Its own translation unit: a changed page does not recompile a folder. A text may be longer than the 64 KiB that every
  # compiler must accept.
  set_source_files_properties(${ELFAUDIT_EMBEDDED_FILES} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON
    COMPILE_OPTIONS -Wno-overlength-strings)
  return()
endif()

list(TRANSFORM patterns PREPEND ${ROOT}/)
file(GLOB files RELATIVE ${ROOT} ${patterns})
list(SORT files)
set(rows "")
foreach(file ${files})
  file(READ ${ROOT}/${file} text)
  # One literal a line, so that the source can be read.
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  string(REPLACE "\n" "\\n\"\n     \"" text "${text}")
  string(APPEND rows "    {\"${file}\",\n     \"${text}\"sv},\n")
endforeach()
file(WRITE ${OUTPUT} "// Written by cmake/embed_files.cmake.
#include \"support/file.hpp\"

namespace elfaudit {
namespace {

using namespace std::string_view_literals;

constexpr EmbeddedFile kFiles[] = {
${rows}};

}  // namespace

std::span<const EmbeddedFile> embedded_files() { return kFiles; }

}  // namespace elfaudit
")
