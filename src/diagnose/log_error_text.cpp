// Parts of messages: places, quotes, names of tools.
#include <algorithm>
#include <charconv>

#include "support/path.hpp"

#include "diagnose/log_error_reader.hpp"
#include "input/driver.hpp"

namespace elfaudit::log_errors {

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

std::pair<LogTool, std::string_view> split_linker(std::string_view text) {
  const std::string_view whole = text;
  text = trim(text);
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
  for (const std::string_view extension : {".o", ".a", ".so", ".obj", ".lo", ".os", ".po", ".pico", ".bc", ".lto"}) {
    if (name.ends_with(extension)) return true;
  }
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

}  // namespace elfaudit::log_errors
