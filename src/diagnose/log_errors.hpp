// Between the files that read the messages of one kind of tool each: shared by find_log_errors, used nowhere else. The
// messages are those of GNU ld 2.30 to 2.40, gold 1.16, lld 14 and 19, mold 1.10, nvlink 13, gcc, clang and nvcc in
// English, seen by making them fail.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "diagnose/build_log.hpp"

namespace elfaudit::log_errors {

/// The lines from the one that is looked at on, and what earlier lines said that belongs to it.
struct Reader {
  std::span<const LogLine> lines;
  LogPlace in_function;                 ///< GNU ld: "a.o: in function `main':"
  std::vector<LogPlace> included_from;  ///< "In file included from ...", innermost first
  std::string python_file;              ///< of a traceback: the last file in it that is installed
  std::vector<LogError> errors;

  std::string_view text(std::size_t ahead = 0) const {
    return ahead < lines.size() ? std::string_view(lines[ahead].text) : std::string_view();
  }
  LogError make(LogErrorKind kind, LogTool tool) const {
    LogError error;
    error.kind = kind;
    error.tool = tool;
    error.text = lines.front().text;
    error.line = lines.front().number;
    return error;
  }
};

/// Each looks at the first line and returns how many lines it took; 0: it is none of its messages.
std::size_t read_nvlink(Reader& reader);
std::size_t read_known_form(Reader& reader);
std::size_t read_odr_violation(Reader& reader);
std::size_t read_text_relocation(Reader& reader);
std::size_t read_lld_or_mold(Reader& reader);
std::size_t read_gold(Reader& reader);
std::size_t read_bfd(Reader& reader);
std::size_t read_compiler(Reader& reader);
std::size_t read_build_tool(Reader& reader);
std::size_t read_failed_tool(Reader& reader);
std::size_t read_loader(Reader& reader);
std::size_t read_other_linker_line(Reader& reader);

/// The lines of lld and mold below the one that is looked at that begin with ">>>": adds the places that refer to
/// something to the error, and returns how many lines it took, the first one too.
std::size_t read_referenced_block(const Reader& reader, LogError& error);

/// "/usr/bin/ld.bfd: rest" -> its tool (Bfd for any plain ld) and "rest"; Unknown and the whole text when no linker is
/// named.
std::pair<LogTool, std::string_view> split_linker(std::string_view text);

/// The text after `before` and the one before it; nothing found: both empty.
struct Around {
  std::string_view before;
  std::string_view after;
  bool found = false;
};
Around split_at(std::string_view text, std::string_view at);

/// "`foo(int)'" or "'foo'" at the beginning -> "foo(int)", and what is left behind the quotes. Pasted logs have other
/// quotes.
std::pair<std::string_view, std::string_view> quoted(std::string_view text);

/// A place before a colon, as GNU ld and gold write it: "libx.a(y.o):(.bss+0x380)", "a.o:/x/h.h:351",
/// "a.cpp:(.text+0x0)", "a.o:a.cpp:function f". Without an object in it, that is the context's.
LogPlace place_of(std::string_view text, const LogPlace& context);

/// "libx.a(y.o)", nvlink's "libx.a:y.o", "a.o" -> input and member.
void set_input(LogPlace& place, std::string_view text);

/// ".bss+0x380" -> section and offset; anything else is a function's name.
void set_section_or_function(LogPlace& place, std::string_view text);

/// "h.h:351" -> file and line.
void set_file_and_line(LogPlace& place, std::string_view text);

/// Does a name end as those of link inputs do: .o, .a, .so.1, "x.a(y.o)"?
bool looks_like_input(std::string_view name);

/// Is the line what a shell, make or the system prints when a program was ended, or when the disk or memory is full?
bool is_end_of_program(std::string_view text);

std::string_view trim(std::string_view text);

/// A number of at most nine digits; nothing for anything else.
std::optional<std::uint32_t> number_of(std::string_view digits);

}  // namespace elfaudit::log_errors
