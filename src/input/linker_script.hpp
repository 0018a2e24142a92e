// Linker scripts used as inputs (libc.so, libgcc_s.so) or given with -T: text -> statements. Opens no file.
// The language: GNU ld manual, "Linker Scripts"; what GNU ld 2.40 accepts was tried where the manual is silent.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "elfaudit/link_job.hpp"
#include "target/traits.hpp"

namespace elfaudit {

struct ScriptStatement {
  enum class Kind : std::uint8_t { Input, GroupStart, GroupEnd, SearchDir, Extern, Entry, Assign, Include, Target };
  Kind kind = Kind::Input;
  std::string text;        ///< the file or "-lfoo", the directory, the symbol, the format
  bool as_needed = false;  ///< Input: inside AS_NEEDED()
  Assignment assignment;   ///< Assign
};

struct LinkerScript {
  std::vector<ScriptStatement> statements;   ///< in the order of the text
  std::vector<VersionNode> versions;         ///< VERSION { }
  std::vector<std::string> output_sections;  ///< that SECTIONS describes
  std::string output_format;                 ///< the first name in OUTPUT_FORMAT(); empty when there is none
  std::vector<std::string> regions;          ///< of memory, that MEMORY and REGION_ALIAS() name
  std::vector<std::string> regions_needed;   ///< and those that some script of the link must name
  std::vector<std::string> skipped;          ///< statements that lay out the output and were not followed: "SECTIONS"
  bool inserts = false;                      ///< INSERT: adds to the linker's own script instead of replacing it
  std::string error;                         ///< "line 3: syntax error"; empty when the text is a linker script
};

/// As that linker reads it: GNU ld takes "a.o," in INPUT(a.o, b.o) for a name that ends in a comma, the other linkers
/// don't. `where` names the script in the assignments made by it.
LinkerScript parse_linker_script(std::string_view text, const std::string& where, const LinkerTraits& linker);

/// Notes what the right-hand side of an assignment uses: "b" and "c" in "b + c - ALIGN(8) - SIZEOF(.text)".
void read_expression(std::string_view expression, const LinkerTraits& linker, Assignment& made);

}  // namespace elfaudit
