// nvlink, the compilers and the build tools.
#include <algorithm>
#include <array>

#include "diagnose/log_error_reader.hpp"
#include "input/driver.hpp"

namespace elfaudit::log_errors {
namespace {

/// A message of nvlink, with what an issue or a narrow terminal wrapped joined again (at most three lines).
std::string nvlink_message(const Reader& reader, std::size_t& taken) {
  std::string text(reader.text());
  for (taken = 1; taken < 3; ++taken) {
    const std::string_view next = trim(reader.text(taken));
    if (!next.starts_with("in '") && !next.starts_with("first defined in '") &&
        !next.starts_with("first specified in '"))
      break;
    text += " " + std::string(next);
  }
  return text;
}

std::string_view between(std::string_view text, std::string_view open, std::string_view close) {
  return split_at(split_at(text, open).after, close).before;
}

bool read_nvlink_symbol(LogError& error, std::string_view text) {
  struct Message {
    std::string_view start;
    LogErrorKind kind;
  };
  for (const Message& message : {Message{"Multiple definition of '", LogErrorKind::DuplicateDefinition},
                                 Message{"Undefined reference to '", LogErrorKind::UndefinedReference},
                                 Message{"Size doesn't match for '", LogErrorKind::DeclarationMismatch},
                                 Message{"Prototype doesn't match for '", LogErrorKind::DeclarationMismatch},
                                 Message{"Memory space doesn't match for '", LogErrorKind::DeclarationMismatch},
                                 Message{"Managed attribute doesn't match for '", LogErrorKind::DeclarationMismatch}}) {
    if (!text.starts_with(message.start)) continue;
    error.kind = message.kind;
    error.symbol = between(text, message.start, "'");
    set_input(error.place, between(text, " in '", "'"));
    for (const std::string_view first : {"first defined in '", "first specified in '"}) {
      const std::string_view name = between(text, first, "'");
      if (!name.empty()) set_input(error.first, name);
    }
    error.arch = between(text, "(target: ", ")");
    return true;
  }
  return false;
}

std::size_t add(Reader& reader, LogErrorKind kind, LogTool tool, std::string_view name) {
  LogError error = reader.make(kind, tool);
  error.name = name;
  reader.errors.push_back(std::move(error));
  return 1;
}

/// "a.cpp:12:10" -> file and line; "a.cu(12)" (nvcc's front end) too.
LogPlace source_place(std::string_view text) {
  LogPlace place;
  text = trim(text);
  const std::size_t open = text.rfind('(');
  if (text.ends_with(')') && open != std::string_view::npos) {
    const auto line = number_of(text.substr(open + 1, text.size() - open - 2));
    place.file = text.substr(0, line ? open : text.npos);
    place.line = line.value_or(0);
    return place;
  }
  // file:line:column or file:line
  LogPlace column;
  set_file_and_line(column, text);
  set_file_and_line(place, column.file);
  return place.line != 0 ? place : column;
}

/// "In file included from a.h:3:" and gcc's "                 from a.cpp:1:". gcc lists from the inside out in one
/// message, clang begins each line anew, from the outside in; both are kept innermost first.
std::size_t read_included_from(Reader& reader) {
  constexpr std::string_view kFirst = "In file included from ";
  std::string_view text = trim(reader.text());
  const bool first = text.starts_with(kFirst);
  if (!first && !(text.starts_with("from ") && !reader.included_from.empty())) return 0;
  text.remove_prefix(first ? kFirst.size() : 5);
  while (text.ends_with(':') || text.ends_with(',')) text.remove_suffix(1);
  LogPlace place = source_place(text);
  if (place.line == 0) return 0;
  // More than gcc's and clang's own limit on nested includes (200) is no chain.
  if (reader.included_from.size() >= 256) reader.included_from.clear();
  const bool clang = first && !reader.included_from.empty();
  reader.included_from.insert(clang ? reader.included_from.begin() : reader.included_from.end(), std::move(place));
  return 1;
}

/// The name in "fatal error: x.h: No such file or directory", "fatal error: 'x.h' file not found" or nvcc's
/// "catastrophic error: cannot open source file "x.h"", and what stands before the message.
struct MissingHeader {
  std::string_view before;
  std::string_view name;
};

MissingHeader missing_header(std::string_view text) {
  const Around fatal = split_at(text, "fatal error: ");
  if (fatal.found) {
    const Around gcc = split_at(fatal.after, ": No such file or directory");
    if (gcc.found) return {fatal.before, gcc.before};
    const Around clang = split_at(fatal.after, "' file not found");
    if (clang.found && clang.before.starts_with('\'')) return {fatal.before, clang.before.substr(1)};
  }
  const Around edg = split_at(text, "error: cannot open source file \"");
  if (edg.found) return {edg.before.substr(0, edg.before.find("catastrophic")), split_at(edg.after, "\"").before};
  return {};
}

/// gcc shows the line below: "   77 | #include <x.h>". Excerpts in reports often have only that.
std::uint32_t shown_line(std::string_view text) {
  const Around bar = split_at(text, " | ");
  return bar.found && bar.after.find("include") != std::string_view::npos ? number_of(trim(bar.before)).value_or(0) : 0;
}

std::size_t read_missing_header(Reader& reader) {
  const MissingHeader missing = missing_header(reader.text());
  if (missing.name.empty() || missing.name.size() > 4096) return 0;
  std::string_view before = trim(missing.before);
  // "g++: fatal error: a.cpp: No such file or directory": the driver, not the preprocessor.
  if (before.ends_with(':')) before.remove_suffix(1);
  const LogPlace place = source_place(before);
  if (!before.empty() && place.line == 0)
    return add(reader, LogErrorKind::InputNotFound, LogTool::Compiler, missing.name);
  LogError error = reader.make(LogErrorKind::HeaderNotFound, LogTool::Compiler);
  error.name = missing.name;
  error.place = place;
  if (error.place.line == 0) error.place.line = shown_line(reader.text(1));
  error.chain.assign(reader.included_from.rbegin(), reader.included_from.rend());
  reader.errors.push_back(std::move(error));
  return 1;
}

/// "g++: error: a.o: No such file or directory", "clang: error: no such file or directory: 'a.o'".
std::size_t read_missing_input(Reader& reader) {
  const std::string_view text = trim(reader.text());
  const Around error = split_at(text, ": error: ");
  if (!error.found || error.before.find(' ') != std::string_view::npos ||
      error.before.find(':') != std::string_view::npos)
    return 0;
  const Around gcc = split_at(error.after, ": No such file or directory");
  if (gcc.found && gcc.after.empty()) return add(reader, LogErrorKind::InputNotFound, LogTool::Compiler, gcc.before);
  constexpr std::string_view kClang = "no such file or directory: ";
  if (error.after.starts_with(kClang)) {
    return add(reader, LogErrorKind::InputNotFound, LogTool::Compiler, quoted(error.after.substr(kClang.size())).first);
  }
  return 0;
}

std::size_t read_link_failed(Reader& reader) {
  const std::string_view text = trim(reader.text());
  const bool collect2 = text.starts_with("collect2: ") && text.find("error: ld ") != std::string_view::npos;
  if (collect2 || text.find(": error: linker command failed with exit code ") != std::string_view::npos) {
    return add(reader, LogErrorKind::LinkFailed, LogTool::Compiler, {});
  }
  return 0;
}

bool is_source_name(std::string_view file) {
  constexpr std::array<std::string_view, 24> kExtensions{
      ".c",   ".cc",  ".cpp", ".cxx", ".c++", ".C",   ".cu",  ".h", ".hh", ".hpp", ".hxx", ".h++",
      ".cuh", ".inc", ".inl", ".ipp", ".tpp", ".tcc", ".def", ".s", ".S",  ".m",   ".mm",  ".f90"};
  // The C++ library's own headers have none: "/usr/include/c++/12/vector".
  return file.starts_with('/') || std::any_of(kExtensions.begin(), kExtensions.end(), [&](std::string_view e) {
           return file.size() > e.size() && file.ends_with(e);
         });
}

/// "x.cpp:2:5: error: redefinition of 'int v'", nvcc's "x.cu(2): error: ...", gas's "x.s:3: Error: no such
/// instruction". EDG numbers some: "error #20: ...".
std::size_t read_error_at_line(Reader& reader) {
  const std::string_view text = trim(reader.text());
  for (const std::string_view phrase : {": error: ", ": fatal error: ", ": Error: ", ": internal compiler error: ",
                                        ": error #", ": catastrophic error: "}) {
    const Around parts = split_at(text, phrase);
    if (!parts.found) continue;
    const LogPlace place = source_place(parts.before);
    if (place.line == 0 || place.file.find(' ') != std::string::npos || !is_source_name(place.file)) continue;
    if (place.file.starts_with("conftest.")) return 0;  // configure tries what compiles
    LogError error = reader.make(LogErrorKind::CompileError, LogTool::Compiler);
    error.place = place;
    error.chain.assign(reader.included_from.rbegin(), reader.included_from.rend());
    reader.errors.push_back(std::move(error));
    return 1;
  }
  return 0;
}

/// "g++: error: unrecognized command-line option '-x'", "g++: fatal error: Killed signal terminated program cc1plus",
/// "cc1plus: error: ...", "nvcc fatal   : Unsupported gpu architecture", "ptxas error   : ...", and of ptxas with a
/// place "ptxas x.ptx, line 5; error   : ...".
std::size_t read_error_of_tool(Reader& reader) {
  const std::string_view text = trim(reader.text());
  bool found = false;
  for (const std::string_view tool : {"nvcc ", "ptxas ", "cudafe++ ", "cicc ", "fatbinary "}) {
    const Around parts = text.starts_with(tool) ? split_at(text, " : ") : Around();
    const std::string_view severity = trim(parts.before);
    found = found || (parts.found && (severity.ends_with(" error") || severity.ends_with(" fatal")));
  }
  for (const std::string_view phrase : {": error: ", ": fatal error: ", ": internal compiler error: "}) {
    const Around parts = split_at(text, phrase);
    const std::string_view program = parts.before.substr(parts.before.rfind('/') + 1);
    found = found || (parts.found && parts.before.find(' ') == std::string_view::npos &&
                      (program.starts_with("cc1") || classify_program(std::string(program)) == ProgramKind::Driver));
  }
  return found ? add(reader, LogErrorKind::CompileError, LogTool::Compiler, {}) : 0;
}

/// gcc's "in.h: In function 'int f()':" is between the includes and the message.
bool is_scope_line(std::string_view text) {
  return text.ends_with(':') && (text.find(": In ") != std::string_view::npos || text.ends_with(": At global scope:"));
}

/// "make[1]: *** [Makefile:2: x] Error 1" -> "x"; older make has "[x]".
std::string_view make_target(std::string_view text) {
  std::string_view target = between(text, "*** [", "] Error");
  const std::size_t colon = target.rfind(": ");
  return colon == std::string_view::npos ? target : target.substr(colon + 2);
}

}  // namespace

std::size_t read_nvlink(Reader& reader) {
  const std::string_view start = trim(reader.text());
  if (!start.starts_with("nvlink ")) return 0;
  std::size_t taken = 1;
  const std::string whole = nvlink_message(reader, taken);
  const Around parts = split_at(trim(whole), ":");
  const std::string_view severity = trim(parts.before.substr(std::min<std::size_t>(7, parts.before.size())));
  if (!parts.found || (severity != "error" && severity != "fatal")) return 0;
  const std::string_view text = trim(parts.after);

  LogError error = reader.make(LogErrorKind::OtherLinkError, LogTool::Nvlink);
  if (!read_nvlink_symbol(error, text)) {
    if (text.starts_with("merge_elf failed")) return taken;  // the last word after errors of its own
    const Around file = split_at(text, "Could not open input file '");
    if (file.found) {
      error.kind = LogErrorKind::InputNotFound;
      error.name = split_at(file.after, "'").before;
    } else if (text.starts_with("LTO objects found")) {
      error.kind = LogErrorKind::LtoObjects;
    }
  }
  reader.errors.push_back(std::move(error));
  return taken;
}

std::size_t read_compiler(Reader& reader) {
  if (const std::size_t taken = read_included_from(reader)) return taken;
  if (is_scope_line(trim(reader.text()))) return 1;
  std::size_t taken = read_missing_header(reader);
  if (taken == 0) taken = read_missing_input(reader);
  if (taken == 0) taken = read_link_failed(reader);
  if (taken == 0) taken = read_error_at_line(reader);
  if (taken == 0) taken = read_error_of_tool(reader);
  reader.included_from.clear();  // it belonged to this line, whatever that was
  return taken;
}

std::size_t read_build_tool(Reader& reader) {
  const std::string_view text = trim(reader.text());
  if (text.starts_with("error: command '")) {  // setuptools
    return add(reader, LogErrorKind::CommandFailed, LogTool::BuildTool, between(text, "error: command '", "'"));
  }
  const bool make = text.starts_with("make") || text.starts_with("gmake");
  if (make && text.find(": *** [") != std::string_view::npos) {
    return add(reader, LogErrorKind::CommandFailed, LogTool::BuildTool, make_target(text));
  }
  if (text.starts_with("FAILED: ")) {  // ninja; 1.12 puts "[code=1] " before the target
    std::string_view target = text.substr(8);
    if (target.starts_with("[code=")) target = split_at(target, "] ").after;
    return add(reader, LogErrorKind::CommandFailed, LogTool::BuildTool, trim(target));
  }
  if (text.starts_with("ninja: error: '")) {  // "'a.o', needed by 'x', missing and no known rule to make it"
    return add(reader, LogErrorKind::InputNotFound, LogTool::BuildTool, between(text, "ninja: error: '", "'"));
  }
  return 0;
}

}  // namespace elfaudit::log_errors
