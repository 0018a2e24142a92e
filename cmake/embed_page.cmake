# Puts the files of src/report/page into one C++ source: the page before its data and the page behind it.
# usage: cmake -DPAGE=src/report/page -DOUTPUT=page.cpp -P embed_page.cmake
foreach(part report.html report.css graph.js finding.js report.js)
  file(READ ${PAGE}/${part} ${part})
endforeach()
set(html "${report.html}")
foreach(part report.css graph.js finding.js report.js)
  string(REPLACE "/* ${part} */" "${${part}}" html "${html}")
endforeach()

# Compilers need not take string literals of more than 64 KiB, so each line is one and they stand side by side.
function(literal name text)
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  string(REPLACE "\n" "\\n\"\n    \"" text "${text}")
  set(${name} "\"${text}\"" PARENT_SCOPE)
endfunction()

string(FIND "${html}" "{{data}}" at)
if(at EQUAL -1)
  message(FATAL_ERROR "report.html has no {{data}}")
endif()
string(SUBSTRING "${html}" 0 ${at} head)
math(EXPR at "${at} + 8")
string(SUBSTRING "${html}" ${at} -1 tail)
literal(head "${head}")
literal(tail "${tail}")
file(WRITE ${OUTPUT} "// Made by cmake/embed_page.cmake.
namespace elfaudit {

extern const char* const kPageHead =
    ${head};
extern const char* const kPageTail =
    ${tail};

}  // namespace elfaudit
")
