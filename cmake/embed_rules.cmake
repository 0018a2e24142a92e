# Puts docs/rules/*.md into one C++ source, so that the program can print them and reports can carry them.
# usage: cmake -DRULES=docs/rules -DOUTPUT=rule_pages.cpp -P embed_rules.cmake
file(GLOB pages ${RULES}/*.md)
list(SORT pages)
set(rows "")
foreach(page ${pages})
  get_filename_component(id ${page} NAME_WE)
  file(READ ${page} text)
  # A literal for each line: compilers need not take those of more than 64 KiB.
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  string(REPLACE "\n" "\\n\"\n     \"" text "${text}")
  string(APPEND rows "    {\"${id}\",\n     \"${text}\"},\n")
endforeach()
file(WRITE ${OUTPUT} "// Made by cmake/embed_rules.cmake.
#include \"report/rule_help.hpp\"

namespace elfaudit {
namespace {

constexpr RulePage kPages[] = {
${rows}};

}  // namespace

std::span<const RulePage> rule_pages() { return kPages; }

}  // namespace elfaudit
")
