// The messages of compilers and build tools, and what all readers of messages share.

#include "diagnose/log_errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "input/driver.hpp"
#include "locate/cause/cause.hpp"
#include "support/limits.hpp"
#include "support/path.hpp"
#include "support/strings.hpp"

namespace elfaudit::log_errors {

// --- Parts of messages: places, quotes, names of tools.

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::optional<std::uint32_t> number_of(std::string_view digits) {
  std::uint32_t value = 0;
  if (digits.empty() || digits.size() > 9) return std::nullopt;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return error == std::errc() && end == digits.data() + digits.size() ? std::optional(value) : std::nullopt;
}

Around split_at(std::string_view text, std::string_view at) {
  const std::size_t found = text.find(at);
  if (found == std::string_view::npos) return {};
  return {text.substr(0, found), text.substr(found + at.size()), true};
}

std::pair<std::string_view, std::string_view> quoted(std::string_view text) {
  struct Quotes {
    std::string_view open, close;
  };
  // GNU ld writes `x', the others 'x'; a web page may have turned the first into `x` or into typographic quotes.
  for (const Quotes& quotes :
       {Quotes{"`", "'"}, Quotes{"`", "`"}, Quotes{"'", "'"}, Quotes{"\xe2\x80\x98", "\xe2\x80\x99"}}) {
    if (!text.starts_with(quotes.open)) continue;
    const std::string_view inside = text.substr(quotes.open.size());
    // Demangled names can hold quotes themselves ("f()::'lambda'()"): the closing one ends the line or comes before ";
    // ".
    for (const std::string_view next : {"; ", " follow", " in '", " (", " can not", " isn't"}) {
      const std::size_t end = inside.find(std::string(quotes.close) + std::string(next));
      if (end != std::string_view::npos) return {inside.substr(0, end), inside.substr(end + quotes.close.size())};
    }
    const std::size_t end = inside.rfind(quotes.close);
    if (end != std::string_view::npos) return {inside.substr(0, end), inside.substr(end + quotes.close.size())};
  }
  return {};
}

namespace {

/// Where "/usr/bin/ld: " begins in a line that has something else before it, as prefixes that nobody has thought of.
std::size_t linker_within(std::string_view text) {
  constexpr std::size_t kMostColons = 4;
  std::size_t colon = text.find(": ");
  for (std::size_t i = 0; i < kMostColons && colon != std::string_view::npos; ++i, colon = text.find(": ", colon + 1)) {
    const std::size_t begin = text.substr(0, colon).rfind(' ') + 1;
    const std::string_view program = text.substr(begin, colon - begin);
    if (program.starts_with('/') && classify_program(std::string(program)) == ProgramKind::Linker) return begin;
  }
  return 0;
}

}  // namespace

std::pair<LogTool, std::string_view> split_linker(std::string_view text) {
  const std::string_view whole = text;
  text = trim(text);
  if (!text.starts_with('/') && text.find("/ld") != std::string_view::npos) text.remove_prefix(linker_within(text));
  const std::size_t colon = text.find(": ");
  if (colon == std::string_view::npos || colon > 4096) return {LogTool::Unknown, whole};
  const std::string_view program = text.substr(0, colon);
  if (program.find(' ') != std::string_view::npos) return {LogTool::Unknown, whole};
  if (classify_program(std::string(program)) != ProgramKind::Linker) return {LogTool::Unknown, whole};
  const std::string_view name = base_name(program);
  if (name.find("collect") != std::string_view::npos) return {LogTool::Unknown, whole};
  const auto has = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  const LogTool tool = has("lld")    ? LogTool::Lld
                       : has("mold") ? LogTool::Mold
                       : has("gold") ? LogTool::Gold
                                     : LogTool::Bfd;
  return {tool, text.substr(colon + 2)};
}

bool looks_like_input(std::string_view name) {
  if (name.ends_with(')'))
    return name.find(".a(") != std::string_view::npos || name.find(".lib(") != std::string_view::npos;
  if (ends_with_any(name, {".o", ".a", ".so", ".obj", ".lo", ".os", ".po", ".pico", ".bc", ".lto"})) return true;
  // "libfoo.so.1.2"
  const std::size_t shared = name.rfind(".so.");
  return shared != std::string_view::npos &&
         name.substr(shared + 4).find_first_not_of("0123456789.") == std::string_view::npos;
}

void set_input(LogPlace& place, std::string_view text) {
  constexpr std::string_view kPlugin = " (symbol from plugin)";  // GNU ld, objects with LTO code
  if (text.ends_with(kPlugin)) text.remove_suffix(kPlugin.size());
  const std::size_t open = text.rfind('(');
  if (text.ends_with(')') && open != std::string_view::npos && open > 0) {
    place.input = text.substr(0, open);
    place.member = text.substr(open + 1, text.size() - open - 2);
    return;
  }
  const std::size_t archive = text.rfind(".a:");
  if (archive != std::string_view::npos && looks_like_input(text)) {
    place.input = text.substr(0, archive + 2);
    place.member = text.substr(archive + 3);
    return;
  }
  place.input = text;
}

void set_section_or_function(LogPlace& place, std::string_view text) {
  const std::size_t plus = text.rfind("+0x");
  if (plus != std::string_view::npos) {
    std::uint64_t offset = 0;
    const std::string_view digits = text.substr(plus + 3);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), offset, 16);
    if (error == std::errc() && end == digits.data() + digits.size()) {
      place.section = text.substr(0, plus);
      place.offset = offset;
      return;
    }
  }
  place.function = text;
}

void set_file_and_line(LogPlace& place, std::string_view text) {
  const std::size_t colon = text.rfind(':');
  const auto line = colon == std::string_view::npos ? std::nullopt : number_of(text.substr(colon + 1));
  place.file = line ? text.substr(0, colon) : text;
  place.line = line.value_or(0);
}

namespace {

constexpr std::size_t kLongestPlace = 16384;  // two paths and a demangled name

/// Takes "(.bss+0x380)" or "function main" or "p" (gold) off the end.
std::string_view take_position(LogPlace& place, std::string_view text) {
  if (text.ends_with(')')) {
    // The last "(" that a colon precedes: functions have parentheses of their own ("function f(int)").
    const std::size_t open = text.rfind(":(");
    const std::size_t start = open != std::string_view::npos ? open + 1 : text.starts_with('(') ? 0 : text.size();
    if (start < text.size() && text.find("+0x", start) != std::string_view::npos) {
      set_section_or_function(place, text.substr(start + 1, text.size() - start - 2));
      return text.substr(0, open == std::string_view::npos ? 0 : open);
    }
  }
  constexpr std::string_view kFunction = ":function ";
  const std::size_t function = text.find(kFunction);
  if (function == std::string_view::npos) return text;
  place.function = text.substr(function + kFunction.size());
  return text.substr(0, function);
}

/// "a.o" of "a.o:/x/h.h:351"; nothing when the text names no object.
std::string_view input_in(std::string_view text) {
  for (std::size_t colon = text.find(':'); colon != std::string_view::npos; colon = text.find(':', colon + 1)) {
    std::string_view name = text.substr(0, colon);
    const std::size_t plugin = name.find(" (symbol from plugin)");
    if (looks_like_input(name.substr(0, plugin))) return name;
  }
  return {};
}

}  // namespace

LogPlace place_of(std::string_view text, const LogPlace& context) {
  LogPlace place;
  if (text.size() > kLongestPlace) return place;
  constexpr std::string_view kDiscriminator = " (discriminator ";
  text = trim(text.substr(0, text.find(kDiscriminator)));
  std::string_view rest = take_position(place, text);
  const bool with_position = rest.size() != text.size();

  const std::string_view input = input_in(rest);
  if (!input.empty()) {
    set_input(place, input);
    rest.remove_prefix(input.size() + 1);
    // gold: "u.o:u.cpp:p", the reference is in a variable.
    const std::size_t last = rest.rfind(':');
    if (!with_position && last != std::string_view::npos && !number_of(rest.substr(last + 1))) {
      place.function = rest.substr(last + 1);
      rest = rest.substr(0, last);
    }
    set_file_and_line(place, rest);
  } else if (looks_like_input(rest.substr(0, rest.find(" (symbol from plugin)"))) ||
             (with_position && context.input.empty())) {
    set_input(place, rest);  // "a.o:(.data+0x0)"; an object may have any name
  } else {
    set_file_and_line(place, rest);
  }
  if (place.input.empty()) {
    place.input = context.input;
    place.member = context.member;
    if (place.function.empty()) place.function = context.function;
  }
  return place;
}

// --- nvlink, the compilers and the build tools.

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

/// "12.9" of nvlink's "129".
std::string toolkit_version(std::string_view number) {
  if (number.size() < 2) return std::string(number);
  return fmt::format("{}.{}", number.substr(0, number.size() - 1), number.back());
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
  // More than gcc's and clang's own limit on nested includes (200) is not a valid chain.
  if (reader.included_from.size() >= 256) reader.included_from.clear();
  const bool clang = first && !reader.included_from.empty();
  reader.included_from.insert(clang ? reader.included_from.begin() : reader.included_from.end(), std::move(place));
  return 1;
}

/// "f()" of "type of ‘f()’ does not match": in whatever quotes.
std::string name_in_quotes(std::string_view text) {
  std::size_t at = text.find_first_of("`'");
  at = std::min(at, text.find("\xe2\x80\x98"));
  if (at == std::string_view::npos) return {};
  const std::string_view close = text[at] == '\xe2' ? "\xe2\x80\x99" : "'";
  const std::string_view inside = text.substr(at + (close.size() == 1 ? 1 : close.size()));
  return std::string(inside.substr(0, inside.find(close)));
}

/// The name in "fatal error: x.h: No such file or directory", "fatal error: 'x.h' file not found" or nvcc's
/// "catastrophic error: cannot open source file "x.h"", and what precedes the message.
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

void explain_failed_tool(LogError& error) {
  if (std::optional<Advice> advice = on_failed_tool(error.text)) {
    error.cause = std::move(advice->cause);
    error.fix = std::move(advice->fix);
  }
}

/// "nvcc fatal   : Unsupported gpu architecture 'compute_60'", "ptxas fatal   : Value 'sm_60' is not defined for option
/// 'gpu-name'", "clang: error: unsupported CUDA gpu architecture: sm_999".
void explain_architecture(LogError& error) {
  std::string_view name;
  for (const std::string_view phrase : {"Unsupported gpu architecture '", "Value '"})
    if (const std::string_view quoted_name = between(error.text, phrase, "'"); name.empty()) name = quoted_name;
  if (const Around clang = split_at(error.text, "unsupported CUDA gpu architecture: "); clang.found) name = clang.after;
  if (!starts_with_any(name, {"sm_", "compute_", "lto_"})) return;
  const std::string_view version = name.substr(name.find('_') + 1);
  const std::uint32_t number = number_of(version.substr(0, version.find_first_not_of("0123456789"))).value_or(0);
  // The release notes of CUDA 11.0, 12.0 and 13.0 list the architectures that were removed.
  const std::string_view last = number == 0   ? ""
                                : number < 35 ? "10.2"
                                : number < 50 ? "11.8"
                                : number < 75 ? "12.9"
                                              : "";
  error.cause = fmt::format("this compiler has no {}", name);
  error.fix = fmt::format(
      "take {} out of the list of architectures (TORCH_CUDA_ARCH_LIST, CMAKE_CUDA_ARCHITECTURES, nvcc's -gencode and "
      "-arch), or compile with a CUDA toolkit that has it{}",
      name, last.empty() ? "" : fmt::format(": {} is the last one", last));
}

/// g++, of the host's half of code that nvcc compiles without -rdc=true: there `extern __device__ float v;` declares a
/// variable of that file alone, which a definition in the same file defines a second time.
void explain_extern_device(const Reader& reader, LogError& error) {
  constexpr std::size_t kExcerpt = 8;
  if (error.text.find("redefinition of ") == std::string::npos) return;
  for (std::size_t i = 1; i <= kExcerpt; ++i) {
    const Around shown = split_at(reader.text(i), " | ");
    if (!shown.found || shown.after.find("extern ") == std::string_view::npos) continue;
    for (const std::string_view space : {"__device__", "__constant__", "__managed__"})
      if (shown.after.find(space) != std::string_view::npos) {
        error.cause =
            fmt::format("without -rdc=true nvcc takes `extern {}` for a definition of that file alone", space);
        error.fix = "compile with -rdc=true and make a device link (CMake: CUDA_SEPARABLE_COMPILATION ON)";
      }
  }
}

/// GCC, of link-time optimisation: "a.h:5:8: warning: type 'struct S' violates the C++ One Definition Rule [-Wodr]",
/// "a.c:1:8: warning: type of 'f' does not match original declaration [-Wlto-type-mismatch]", and the notes below it.
std::size_t read_mismatch_of_lto(Reader& reader) {
  constexpr std::size_t kMostLines = 40;
  const Around warning = split_at(reader.text(), ": warning: ");
  if (!warning.found || !(warning.after.ends_with("[-Wodr]") || warning.after.ends_with("[-Wlto-type-mismatch]")))
    return 0;
  LogError error = reader.make(LogErrorKind::DeclarationMismatch, LogTool::Compiler);
  error.place = source_place(warning.before);
  if (error.place.line == 0) return 0;
  error.symbol = name_in_quotes(warning.after);
  for (const std::string_view key : {"struct ", "class ", "union ", "enum "})
    if (error.symbol.starts_with(key)) error.symbol.erase(0, key.size());
  std::string difference;
  std::size_t taken = 1;
  for (; taken < kMostLines; ++taken) {
    const std::string_view text = reader.text(taken);
    const Around note = split_at(text, ": note: ");
    const Around excerpt = split_at(text, " | ");
    const bool is_excerpt = excerpt.found && excerpt.before.find_first_not_of(" 0123456789") == std::string_view::npos;
    if (!note.found && !is_excerpt) break;
    if (!note.found) continue;
    const bool is_other = note.after.find("another translation unit") != std::string_view::npos ||
                          note.after.find("previously declared here") != std::string_view::npos;
    if (is_other && error.more.empty()) error.more.push_back(source_place(note.before));
    if (note.after.starts_with("a different type is defined in") ||
        note.after.find("previously declared") != note.after.npos || note.after.starts_with("code may be misoptimized"))
      continue;
    difference += (difference.empty() ? ": " : ", ") + std::string(note.after);
  }
  const std::string name = error.symbol.empty() ? "it" : error.symbol;
  const bool is_one_place = !error.more.empty() && error.more.front().file == error.place.file;
  if (error.more.empty() || is_one_place)
    error.cause = fmt::format(
        "{} is not the same in all objects{}: they were compiled with other macros or options, or "
        "before {} or what it includes changed",
        name, difference, base_name(error.place.file));
  else
    error.cause = fmt::format("{}:{} and {}:{} define or declare {} differently{}", error.place.file, error.place.line,
                              error.more.front().file, error.more.front().line, name, difference);
  error.fix = "compile all objects again, with the same macros and options";
  if (!is_one_place && !error.more.empty())
    error.fix = fmt::format("if they are to be one, declare {} in one header that both include; else rename one{}",
                            name, warning.after.ends_with("[-Wodr]") ? ", or put it into an unnamed namespace" : "");
  reader.errors.push_back(std::move(error));
  return taken;
}

/// "unity_0_cxx.cxx" of CMake, "app-unity0.cpp" of Meson: a source that includes others.
bool is_unity_source(std::string_view file) {
  const std::string_view name = base_name(file);
  return name.starts_with("unity_") || name.find("-unity") != name.npos || file.find("/Unity/") != file.npos;
}

/// A name that two sources define for themselves, which are compiled as one.
void explain_unity(const Reader& reader, LogError& error) {
  constexpr std::size_t kExcerpt = 8;
  const auto unity =
      std::ranges::find_if(error.chain, [](const LogPlace& place) { return is_unity_source(place.file); });
  const bool is_twice = error.text.find("redefinition of ") != error.text.npos ||
                        error.text.find("redeclar") != error.text.npos ||
                        error.text.find("conflicting ") != error.text.npos;
  if (unity == error.chain.end() || !is_twice) return;
  for (std::size_t i = 1; i <= kExcerpt; ++i) {
    const Around note = split_at(reader.text(i), ": note: ");
    if (!note.found || note.after.find("previous") == note.after.npos) continue;
    const LogPlace other = source_place(note.before);
    if (other.line == 0 || other.file == error.place.file) return;
    error.cause = fmt::format("{} and {} both define it, each for itself, and {} includes both as one source",
                              base_name(other.file), base_name(error.place.file), base_name(unity->file));
    error.fix = fmt::format(
        "rename it in one of them, or compile {} for itself (CMake: set_source_files_properties({} "
        "PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON))",
        base_name(error.place.file), error.place.file);
    return;
  }
}

std::size_t read_link_failed(Reader& reader) {
  const std::string_view text = trim(reader.text());
  const bool collect2 = text.starts_with("collect2: ") && text.find("error: ld ") != std::string_view::npos;
  if (collect2 || text.find(": error: linker command failed with exit code ") != std::string_view::npos) {
    add(reader, LogErrorKind::LinkFailed, LogTool::Compiler, {});
    if (text.find(" terminated with signal ") != std::string_view::npos) explain_failed_tool(reader.errors.back());
    return 1;
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
    if (phrase.starts_with(": fatal") || phrase.starts_with(": internal")) explain_failed_tool(error);
    error.place = place;
    explain_extern_device(reader, error);
    error.chain.assign(reader.included_from.rbegin(), reader.included_from.rend());
    explain_unity(reader, error);
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
  for (const std::string_view what : {"Unresolved extern function '", "Unresolved extern variable '"}) {
    const Around name = text.starts_with("ptxas ") ? split_at(text, what) : Around();
    if (!name.found) continue;
    LogError error = reader.make(LogErrorKind::UndefinedReference, LogTool::Compiler);
    error.symbol = split_at(name.after, "'").before;
    reader.errors.push_back(std::move(error));
    return 1;
  }
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
  if (!found) return 0;
  add(reader, LogErrorKind::CompileError, LogTool::Compiler, {});
  explain_architecture(reader.errors.back());
  for (const std::string_view phrase :
       {"fatal error: ", "internal compiler error: ", "unable to execute command: ", "died due to signal "})
    if (text.find(phrase) != std::string_view::npos) explain_failed_tool(reader.errors.back());
  return 1;
}

/// gcc's "in.h: In function 'int f()':" is between the includes and the message.
bool is_scope_line(std::string_view text) {
  return text.ends_with(':') && (text.find(": In ") != std::string_view::npos || text.ends_with(": At global scope:"));
}

/// "make[1]: *** [Makefile:2: x] Error 1" -> "x"; older make has "[x]", and behind it may be "Killed".
std::string_view make_target(std::string_view text) {
  std::string_view target = between(text, "*** [", "] ");
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
    } else if (text.find("' newer than toolkit (") != text.npos) {
      set_input(error.place, between(text, "Input file '", "'"));
      const std::string_view versions = between(text, "newer than toolkit (", ")");
      const Advice advice = on_message(Message::NewerToolkit,
                                       {toolkit_version(split_at(versions, " vs ").before), error.place.display_input(),
                                        toolkit_version(split_at(versions, " vs ").after)});
      error.cause = advice.cause;
      error.fix = advice.fix;
    }
  }
  reader.errors.push_back(std::move(error));
  return taken;
}

std::size_t read_compiler(Reader& reader) {
  if (const std::size_t taken = read_included_from(reader)) return taken;
  if (is_scope_line(trim(reader.text()))) return 1;
  std::size_t taken = read_missing_header(reader);
  if (taken == 0) taken = read_mismatch_of_lto(reader);
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
  if (text.starts_with("error: unknown file type '.cu'")) {
    const std::size_t taken =
        add(reader, LogErrorKind::CommandFailed, LogTool::BuildTool, between(text, "from '", "'"));
    reader.errors.back().cause = "setuptools alone does not compile CUDA sources";
    reader.errors.back().fix =
        "use CUDAExtension and BuildExtension of torch.utils.cpp_extension, or compile it with nvcc and name the "
        "object in "
        "extra_objects";
    return taken;
  }
  const bool make = text.starts_with("make") || text.starts_with("gmake");
  if (make && text.find(": *** No rule to make target ") != std::string_view::npos)
    return add(reader, LogErrorKind::InputNotFound, LogTool::BuildTool, between(text, "'", "'"));
  if (make && text.find(": *** [") != std::string_view::npos) {
    add(reader, LogErrorKind::CommandFailed, LogTool::BuildTool, make_target(text));
    if (is_end_of_program(text.substr(text.rfind("] ") + 2))) explain_failed_tool(reader.errors.back());
    return 1;
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

bool is_end_of_program(std::string_view text) {
  text = trim(text);
  // bash: "x.sh: line 1: 4711 Killed                  g++ -c a.cpp"
  if (const Around line = split_at(text, ": line "); line.found) {
    const std::string_view process = trim(split_at(line.after, ": ").after);
    const std::size_t digits = std::min(process.find_first_not_of("0123456789"), process.size());
    const std::string_view end = digits == 0 ? std::string_view() : trim(process.substr(digits));
    for (const std::string_view word : {"Killed", "Segmentation fault", "Illegal instruction"})
      if (end.starts_with(word)) text = word;
  }
  if (text.find("ld terminated with signal ") != text.npos) return true;
  if (text.find("error: ") != text.npos || text.find("arning: ") != text.npos) return false;
  return is_among(text, {"Killed", "Segmentation fault", "Segmentation fault (core dumped)", "Illegal instruction",
                         "Illegal instruction (core dumped)", "Aborted (core dumped)", "LLVM ERROR: out of memory"}) ||
         text.starts_with("virtual memory exhausted") || text.ends_with(": Segmentation fault") ||
         text.ends_with(": No space left on device") || text.ends_with("] No space left on device") ||
         text.ends_with(": memory exhausted") || text.ends_with("'std::bad_alloc'") ||
         text.find(": out of memory allocating ") != text.npos;
}

std::size_t read_failed_tool(Reader& reader) {
  if (!is_end_of_program(reader.text())) return 0;
  add(reader, LogErrorKind::CommandFailed, LogTool::BuildTool, {});
  explain_failed_tool(reader.errors.back());
  return 1;
}

}  // namespace elfaudit::log_errors

namespace elfaudit {
namespace {

using namespace log_errors;

/// The most particular first: nvlink's and lld's messages have forms of their own, GNU ld's are known by a phrase.
std::size_t read_one(Reader& reader) {
  for (auto* read :
       {read_nvlink, read_odr_violation, read_text_relocation, read_known_form, read_lld_or_mold, read_gold, read_bfd,
        read_loader, read_compiler, read_build_tool, read_failed_tool, read_other_linker_line}) {
    if (const std::size_t taken = read(reader)) return taken;
  }
  return 1;
}

/// Nearly every tool's messages have a colon, and most lines of a log none.
bool may_be_message(std::string_view text) {
  return text.find(':') != std::string_view::npos ||
         starts_with_any(trim(text),
                         {"undefined reference to ", "relocation R_", "cannot find -l", "unable to find library -l"}) ||
         text.find("ELF load command") != std::string_view::npos || text.find("PyInit_") != std::string_view::npos ||
         text.find("NODE_MODULE_VERSION") != std::string_view::npos || is_end_of_program(text);
}

/// Python's traceback: `File "/x/site-packages/y/__init__.py", line 3, in <module>`.
std::string_view installed_file_in(std::string_view text) {
  text = trim(text);
  if (!text.starts_with("File \"") || text.find("-packages/") == text.npos) return {};
  return split_at(text.substr(6), "\", line ").before;
}

/// The last line that says a build or a link failed, whatever stands before it; where that is in another form than the
/// readers know, the log must not pass for one without errors.
std::optional<LogError> find_failure(std::span<const LogLine> lines) {
  struct Words {
    LogErrorKind kind;
    LogTool tool;
    std::string_view first, second;
  };
  using enum LogErrorKind;
  constexpr Words kWords[] = {
      {LinkFailed, LogTool::Compiler, "ld returned ", " exit status"},
      {LinkFailed, LogTool::Compiler, "linker command failed with exit code ", ""},
      {LinkFailed, LogTool::Compiler, "error: linking with `", "` failed"},  // rustc
      {CommandFailed, LogTool::BuildTool, "ninja: build stopped: ", ""},
      {CommandFailed, LogTool::BuildTool, ": *** [", "] Error "},
      {CommandFailed, LogTool::BuildTool, "error: command '", " failed"},
      {CommandFailed, LogTool::BuildTool, "error: subprocess-exited-with-error", ""},  // pip
      {CommandFailed, LogTool::BuildTool, "error: metadata-generation-failed", ""},
      {CommandFailed, LogTool::BuildTool, "error: invalid command '", ""},                     // setuptools
      {CommandFailed, LogTool::BuildTool, "-- Configuring incomplete, errors occurred!", ""},  // CMake
      {CommandFailed, LogTool::BuildTool, "scons: building terminated because of errors", ""},
      {CommandFailed, LogTool::BuildTool, "Build did NOT complete successfully", ""},  // Bazel
  };
  for (std::size_t i = lines.size(); i-- > 0;)
    for (const Words& words : kWords)
      if (const Around parts = split_at(lines[i].text, words.first);
          parts.found && parts.after.find(words.second) != std::string_view::npos) {
        Reader reader;
        reader.lines = lines.subspan(i);
        return reader.make(words.kind, words.tool);
      }
  return std::nullopt;
}

}  // namespace

std::vector<LogError> find_log_errors(std::span<const LogLine> lines) {
  Reader reader;
  for (std::size_t at = 0; at < lines.size() && reader.errors.size() <= limits::kLogErrors;) {
    reader.lines = lines.subspan(at);
    if (const std::string_view file = installed_file_in(reader.text()); !file.empty()) reader.python_file = file;
    if (!may_be_message(reader.text())) {
      reader.included_from.clear();
      ++at;
      continue;
    }
    at += std::min(read_one(reader), lines.size() - at);
  }
  if (std::ranges::all_of(reader.errors, [](const LogError& e) { return e.kind == LogErrorKind::LibraryPassedOver; }))
    if (std::optional<LogError> failure = find_failure(lines)) reader.errors.push_back(std::move(*failure));
  return std::move(reader.errors);
}

}  // namespace elfaudit
