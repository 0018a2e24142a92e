// lld and mold: a line that says what, then lines that begin with ">>>" and say where.
#include "diagnose/log_error_reader.hpp"

namespace elfaudit::log_errors {
namespace {

constexpr std::size_t kMostBlockLines = 4096;
constexpr std::size_t kMostParts = 8192;
constexpr std::string_view kArrow = ">>>";

/// What stands behind each ">>>" of the block; mold 1.10 writes several on one line.
std::vector<std::string_view> block_parts(const Reader& reader, std::size_t& lines) {
  std::vector<std::string_view> parts;
  for (lines = 1; lines <= kMostBlockLines && trim(reader.text(lines)).starts_with(kArrow); ++lines) {
    std::string_view text = trim(reader.text(lines)).substr(kArrow.size());
    for (;;) {
      const std::size_t end = text.find(kArrow);
      parts.push_back(trim(text.substr(0, end)));
      if (end == std::string_view::npos || parts.size() >= kMostParts) break;
      text.remove_prefix(end + kArrow.size());
    }
  }
  return parts;
}

/// "h.h:1 (/x/h.h:1)", "a.cpp": the longer name is the whole path.
void set_source(LogPlace& place, std::string_view text) {
  const std::size_t open = text.rfind(" (");
  if (open != std::string_view::npos && text.ends_with(')')) {
    set_file_and_line(place, text.substr(open + 2, text.size() - open - 3));
  } else {
    set_file_and_line(place, text);
  }
}

/// "b.o:(.data+0x0) in archive lib.a", "a.o:(main)", "lib.a(b.o):(main)", "u.o".
void set_object(LogPlace& place, std::string_view text) {
  const Around archive = split_at(text, " in archive ");
  if (archive.found) text = archive.before;
  const std::size_t open = text.find(":(");
  if (open != std::string_view::npos && text.ends_with(')')) {
    set_section_or_function(place, text.substr(open + 2, text.size() - open - 3));
    text = text.substr(0, open);
  }
  set_input(place, text);
  if (archive.found) {
    place.member = place.input;
    place.input = archive.after;
  }
}

/// The places of a block whose entries begin with `verb` ("defined", "referenced").
std::vector<LogPlace> block_places(const std::vector<std::string_view>& parts, std::string_view verb) {
  std::vector<LogPlace> places;
  bool source_open = false;  // the next part is the object of the source just read
  for (const std::string_view part : parts) {
    std::string_view rest = part;
    if (rest.starts_with(verb)) {
      rest.remove_prefix(verb.size());
      source_open = false;
      if (rest.starts_with(" at ") || rest.starts_with(" by ")) {
        places.emplace_back();
        const Around object = split_at(rest.substr(4), ":(");  // "a.o:(.text+0x1)", "y.o:(.text+0x1) in archive libx.a"
        if (object.found && looks_like_input(object.before)) {
          set_object(places.back(), rest.substr(4));
        } else if (looks_like_input(rest.substr(4))) {
          set_input(places.back(), rest.substr(4));  // "referenced by libx.so (disallowed by ...)" has no source
        } else {
          set_source(places.back(), rest.substr(4));
          source_open = true;
        }
      } else if (rest.starts_with(" in ")) {
        places.emplace_back();
        set_object(places.back(), rest.substr(4));
      }
      // "referenced 3 more times" names no place.
    } else if (source_open) {
      set_object(places.back(), part);
      source_open = false;
    }
  }
  return places;
}

/// lld: "duplicate symbol: x", the places below, the kept one first. mold: "duplicate symbol: b.o: a.o: x".
std::size_t read_duplicate(Reader& reader, LogTool tool, std::string_view symbol) {
  std::size_t taken = 1;
  const std::vector<LogPlace> places = block_places(block_parts(reader, taken), "defined");
  LogError error = reader.make(LogErrorKind::DuplicateDefinition, tool);
  if (places.size() >= 2) {
    error.first = places[0];
    error.place = places[1];
    error.more.assign(places.begin() + 2, places.end());
  } else {
    const Around other = split_at(symbol, ": ");
    const Around first = split_at(other.after, ": ");
    if (other.found && first.found) {
      set_input(error.place, other.before);
      set_input(error.first, first.before);
      symbol = first.after;
    }
  }
  error.symbol = symbol;
  reader.errors.push_back(std::move(error));
  return taken;
}

std::size_t read_undefined(Reader& reader, LogTool tool, std::string_view symbol) {
  LogError error = reader.make(LogErrorKind::UndefinedReference, tool);
  const std::size_t taken = read_referenced_block(reader, error);
  const Around object = split_at(symbol, ": ");
  if (error.place == LogPlace() && object.found && looks_like_input(object.before)) {
    set_input(error.place, object.before);  // mold before 1.2: "undefined symbol: a.o: x"
    symbol = object.after;
  }
  error.symbol = symbol;
  reader.errors.push_back(std::move(error));
  return taken;
}

std::size_t read_named(Reader& reader, LogErrorKind kind, LogTool tool, std::string name) {
  LogError error = reader.make(kind, tool);
  error.name = std::move(name);
  reader.errors.push_back(std::move(error));
  return 1;
}

/// "libx.so: undefined reference to g() [--no-allow-shlib-undefined]"
std::size_t read_library_undefined(Reader& reader, LogTool tool, std::string_view text) {
  const Around parts = split_at(text, ": undefined reference to ");
  const Around option = split_at(parts.after, " [--no-allow-shlib-undefined]");
  if (!option.found) return 0;
  LogError error = reader.make(LogErrorKind::UndefinedReference, tool);
  error.symbol = option.before;
  set_input(error.place, parts.before);
  reader.errors.push_back(std::move(error));
  return 1;
}

}  // namespace

std::size_t read_referenced_block(const Reader& reader, LogError& error) {
  std::size_t taken = 1;
  std::vector<LogPlace> places = block_places(block_parts(reader, taken), "referenced");
  if (places.empty()) return taken;
  error.place = places.front();
  error.more.assign(places.begin() + 1, places.end());
  return taken;
}

std::size_t read_lld_or_mold(Reader& reader) {
  auto [tool, text] = split_linker(reader.text());
  if (tool == LogTool::Unknown) return 0;
  const std::size_t error = text.starts_with("error: ") ? 7 : text.starts_with("fatal: ") ? 7 : 0;
  if (error == 0) return 0;
  text.remove_prefix(error);
  // lld and mold may be installed as plain "ld".
  if (tool == LogTool::Bfd) tool = LogTool::Lld;

  for (const std::string_view what : {"duplicate symbol: "}) {
    if (text.starts_with(what)) return read_duplicate(reader, tool, text.substr(what.size()));
  }
  for (const std::string_view what : {"undefined symbol: ", "undefined hidden symbol: ", "undefined protected symbol: ",
                                      "undefined internal symbol: ", "undefined reference: "}) {
    if (text.starts_with(what)) return read_undefined(reader, tool, text.substr(what.size()));
  }
  if (const std::size_t taken = read_library_undefined(reader, tool, text)) return taken;
  for (const std::string_view what : {"unable to find library ", "library not found: "}) {
    if (!text.starts_with(what)) continue;
    const std::string name(text.substr(what.size()));
    return read_named(reader, LogErrorKind::LibraryNotFound, tool, name.starts_with("-l") ? name : "-l" + name);
  }
  const Around missing = split_at(text, ": No such file or directory");
  if (text.starts_with("cannot open ") && missing.found) {
    return read_named(reader, LogErrorKind::InputNotFound, tool, std::string(missing.before.substr(12)));
  }
  return 0;
}

}  // namespace elfaudit::log_errors
