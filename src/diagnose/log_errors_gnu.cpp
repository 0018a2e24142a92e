// GNU ld and gold: one line a message, mostly.
#include "diagnose/log_error_reader.hpp"

namespace elfaudit::log_errors {
namespace {

bool is_warning(std::string_view before) {
  return before.ends_with("warning") || before.find("warning: ") != std::string_view::npos;
}

/// Prose has a colon before "undefined reference" too; a message names an object, a section or a line.
bool is_place(const LogPlace& place) { return !place.input.empty() || !place.section.empty() || place.line != 0; }

/// "b.o: in function `f()':" (before binutils 2.33: "In function"), which holds for the lines after it.
std::size_t read_context(Reader& reader, std::string_view text) {
  for (const std::string_view phrase : {": in function ", ": In function "}) {
    const Around parts = split_at(text, phrase);
    if (!parts.found || !text.ends_with(':')) continue;
    const std::string_view name = quoted(parts.after.substr(0, parts.after.size() - 1)).first;
    // g++ has "a.cpp: In function 'int main()':", which names no object.
    std::string_view object = trim(parts.before);
    if (!looks_like_input(object.substr(0, object.find(" (symbol from plugin)")))) return 0;
    reader.in_function = {};
    set_input(reader.in_function, object);
    reader.in_function.function = name;
    return 1;
  }
  return 0;
}

/// "B: multiple definition of `x'; A: first defined here"; before binutils 2.33 the second half is a line of its own.
std::size_t read_duplicate(Reader& reader, std::string_view text) {
  const Around parts = split_at(text, ": multiple definition of ");
  if (!parts.found || is_warning(parts.before)) return 0;
  auto [symbol, rest] = quoted(parts.after);
  if (symbol.empty()) return 0;
  std::size_t taken = 1;
  if (!rest.starts_with("; ")) {
    rest = split_linker(reader.text(1)).second;
    taken = 2;
  } else {
    rest.remove_prefix(2);
  }
  const Around first = split_at(rest, ": first defined here");
  LogError error = reader.make(LogErrorKind::DuplicateDefinition, LogTool::Bfd);
  error.symbol = symbol;
  error.place = place_of(parts.before, reader.in_function);
  if (!is_place(error.place)) return 0;
  if (first.found) error.first = place_of(first.before, {});
  reader.errors.push_back(std::move(error));
  return first.found ? taken : 1;
}

/// "a.o: undefined reference to symbol 'x@@V'", then "libx.so: error adding symbols: DSO missing from command line".
std::size_t read_library_not_on_line(Reader& reader, std::string_view text) {
  const Around parts = split_at(text, ": undefined reference to symbol ");
  const Around library = split_at(split_linker(reader.text(1)).second, ": error adding symbols: DSO missing");
  if (!parts.found || !library.found) return 0;
  LogError error = reader.make(LogErrorKind::LibraryNotOnLine, LogTool::Bfd);
  error.symbol = quoted(parts.after).first;
  error.name = trim(library.before);
  error.place = place_of(parts.before, {});
  reader.errors.push_back(std::move(error));
  return 2;
}

std::size_t read_undefined(Reader& reader, std::string_view text, LogTool tool) {
  std::string_view phrase = tool == LogTool::Gold ? ": error: undefined reference to " : ": undefined reference to ";
  const Around parts = split_at(text, phrase);
  // "more undefined references to `x' follow" repeats; with --warn-unresolved-symbols they are no errors.
  if (!parts.found || is_warning(parts.before)) return 0;
  const std::string_view symbol = quoted(parts.after).first;
  if (symbol.empty()) return 0;
  LogError error = reader.make(LogErrorKind::UndefinedReference, tool);
  error.symbol = symbol;
  error.place = place_of(parts.before, tool == LogTool::Gold ? LogPlace() : reader.in_function);
  if (!is_place(error.place)) return 0;
  reader.errors.push_back(std::move(error));
  return 1;
}

/// "x: hidden symbol `hid' isn't defined": x is the output.
std::size_t read_hidden(Reader& reader, std::string_view text) {
  for (const std::string_view phrase : {": hidden symbol ", ": protected symbol ", ": internal symbol "}) {
    const Around parts = split_at(text, phrase);
    const auto [symbol, rest] = parts.found ? quoted(parts.after) : quoted("");
    if (symbol.empty() || !rest.starts_with(" isn't defined")) continue;
    LogError error = reader.make(LogErrorKind::UndefinedReference, LogTool::Bfd);
    error.symbol = symbol;
    reader.errors.push_back(std::move(error));
    return 1;
  }
  return 0;
}

/// "cannot find -lfoo: No such file or directory"; gold says "libfoo.so.1" for -l:libfoo.so.1.
std::size_t read_not_found(Reader& reader, LogTool tool, std::string_view text) {
  if (tool == LogTool::Unknown || !text.starts_with("cannot find ")) return 0;
  std::string name(text.substr(12, text.find(": ") == std::string_view::npos ? text.npos : text.find(": ") - 12));
  if (name.empty() || name.find(' ') != std::string::npos) return 0;
  if (tool == LogTool::Gold && !name.starts_with("-l")) name.insert(0, "-l:");
  const bool library = name.starts_with("-l");
  LogError error = reader.make(library ? LogErrorKind::LibraryNotFound : LogErrorKind::InputNotFound, tool);
  error.name = name;
  reader.errors.push_back(std::move(error));
  return 1;
}

std::size_t read_lto(Reader& reader, LogTool tool, std::string_view text) {
  const Around plugin = split_at(text, ": plugin needed to handle lto object");
  const bool bytecode = text.find("bytecode stream in file ") != std::string_view::npos &&
                        text.find("generated with LTO version") != std::string_view::npos;
  if (!plugin.found && !bytecode) return 0;
  LogError error = reader.make(LogErrorKind::LtoObjects, tool == LogTool::Unknown ? LogTool::Compiler : tool);
  if (plugin.found) set_input(error.place, trim(plugin.before));
  // "bytecode stream in file 'a.o' generated with LTO version 12.0 instead of 11.3"
  if (bytecode) set_input(error.place, quoted(split_at(split_at(text, " generated").before, "in file ").after).first);
  reader.errors.push_back(std::move(error));
  return 1;
}

}  // namespace

std::size_t read_bfd(Reader& reader) {
  const auto [tool, text] = split_linker(reader.text());
  if (tool == LogTool::Lld || tool == LogTool::Mold) return 0;
  if (const std::size_t taken = read_context(reader, text)) return taken;
  if (const std::size_t taken = read_duplicate(reader, text)) return taken;
  if (const std::size_t taken = read_library_not_on_line(reader, text)) return taken;
  if (const std::size_t taken = read_undefined(reader, text, LogTool::Bfd)) return taken;
  if (const std::size_t taken = read_hidden(reader, text)) return taken;
  if (const std::size_t taken = read_not_found(reader, tool, text)) return taken;
  return read_lto(reader, tool, text);
}

/// "ld.gold: error: b.o: multiple definition of 'x'", then "ld.gold: a.o: previous definition here".
std::size_t read_gold(Reader& reader) {
  auto [tool, text] = split_linker(reader.text());
  if (const std::size_t taken = read_undefined(reader, text, LogTool::Gold)) return taken;
  if (tool == LogTool::Unknown || !text.starts_with("error: ")) return 0;
  text.remove_prefix(7);
  if (const std::size_t taken = read_not_found(reader, LogTool::Gold, text)) return taken;

  const Around parts = split_at(text, ": multiple definition of ");
  const std::string_view symbol = parts.found ? quoted(parts.after).first : std::string_view();
  if (symbol.empty()) return 0;
  LogError error = reader.make(LogErrorKind::DuplicateDefinition, LogTool::Gold);
  error.symbol = symbol;
  error.place = place_of(parts.before, {});
  const Around first = split_at(split_linker(reader.text(1)).second, ": previous definition here");
  if (first.found) error.first = place_of(first.before, {});
  reader.errors.push_back(std::move(error));
  return first.found ? 2 : 1;
}

/// What a linker says and no other reader knows, unless it is a warning, a note or the last word after other errors.
std::size_t read_other_linker_line(Reader& reader) {
  const auto [tool, text] = split_linker(reader.text());
  if (tool == LogTool::Unknown) return 0;
  for (const std::string_view harmless :
       {"warning: ", "note: ", ": note: ", ": warning: ", "final link failed", "failed to set dynamic section sizes",
        "DWARF error", "more undefined references", "NOTE: ", "have you installed the static version",
        "too many errors emitted", "link errors found"}) {
    if (text.find(harmless) != std::string_view::npos) return 1;
  }
  LogError error = reader.make(LogErrorKind::OtherLinkError, tool);
  reader.errors.push_back(std::move(error));
  return 1;
}

}  // namespace elfaudit::log_errors
