// Wrapping, the nearest word, demangling by the C++ runtime, UTF-8, and visible control characters.

#include "support/strings.hpp"

#include <cxxabi.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <span>
#include <sstream>

namespace elfaudit {

namespace {

/// Of a well-formed sequence (Unicode 15, table 3-6).
char32_t code_point(std::string_view sequence) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(sequence[i]); };
  if (sequence.size() == 1) return byte(0);
  char32_t value = byte(0) & (0xffU >> (sequence.size() + 1));
  for (std::size_t i = 1; i < sequence.size(); ++i) value = value << 6 | (byte(i) & 0x3fU);
  return value;
}

/// Is it white space that GitHub's runner skips before a command? .NET's TrimStart(), without what visible() spells out.
bool is_blank(char32_t c) {
  return (c >= 0x2000 && c <= 0x200a) ||
         std::u32string_view(U" \u00a0\u1680\u202f\u205f\u3000").find(c) != std::u32string_view::npos;
}

/// The length of such white space that `text` begins with.
std::size_t margin_of(std::string_view text) {
  std::size_t at = 0;
  while (const std::size_t length = utf8_length(text.substr(at))) {
    if (!is_blank(code_point(text.substr(at, length)))) break;
    at += length;
  }
  return at;
}

/// Would a line that begins with `text` be a command to GitHub Actions? A single ":" counts: a place is "FILE:LINE".
bool begins_command(std::string_view text) {
  const std::string_view rest = text.substr(margin_of(text));
  return rest == ":" || rest.starts_with("::");
}

}  // namespace

std::string some_of(const std::vector<std::string>& names, std::size_t most, std::string_view separator) {
  if (names.size() <= most) return fmt::format("{}", fmt::join(names, separator));
  return fmt::format("{} and {} more", fmt::join(std::span(names).first(most), separator), names.size() - most);
}

std::string one_of(const std::vector<std::string>& words) {
  return fmt::format("{} or {}", fmt::join(words.begin(), words.end() - 1, ", "), words.back());
}

std::string wrapped(std::string_view text, std::size_t indent, std::size_t width) {
  std::istringstream words{std::string(text)};
  std::string out;
  std::size_t column = indent;
  for (std::string word; words >> word;) {
    if (column != indent && width != 0 && column + 1 + word.size() > width && !begins_command(word)) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    }
    if (column != indent) {
      out += " ";
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    before.swap(last);
    last.swap(row);
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      row[j + 1] = std::min({last[j] + (a[i] == b[j] ? 0 : 1), row[j] + 1, last[j + 1] + 1});
      const bool swapped = i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j];
      if (swapped) row[j + 1] = std::min(row[j + 1], before[j - 1] + 1);
    }
  }
  return row.back();
}

namespace {

/// In lower case and with '-' for '_': "DUPLICATE_DEFINITION" is the rule that is written duplicate-definition.
std::string folded(std::string_view word) {
  std::string out(word.substr(std::min(word.find_first_not_of('-'), word.size())));
  for (char& c : out)
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c - 'A' + 'a');
    else if (c == '_')
      c = '-';
  return out;
}

}  // namespace

std::string nearest_word(const std::string& word, const std::vector<std::string>& known) {
  const std::string wanted = folded(word);
  constexpr std::size_t kShortest = 3;  // every option of one letter is near every other
  if (wanted.size() < kShortest) return {};
  std::string best;
  std::pair least(wanted.size() / 3 + 1, std::size_t{0});  // more than every third letter wrong is another word
  for (const std::string& candidate : known) {
    const std::string other = folded(candidate);
    if (other.size() < kShortest) continue;
    const std::size_t edits = other == wanted ? 0 : other.starts_with(wanted) ? 1 : edit_distance(wanted, other);
    if (std::pair(edits, other.size()) >= least) continue;  // of two that begin with it the shorter
    best = candidate;
    least = {edits, other.size()};
  }
  return best;
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& known) {
  const std::string near = nearest_word(word, known);
  return near.empty() ? "" : "; did you mean '" + near + "'?";
}

std::string shell_line(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    if (!line.empty()) line += ' ';
    const bool plain = !word.empty() && std::ranges::all_of(word, [](unsigned char c) {
      return is_word_char(static_cast<char>(c)) || c >= 0x80 ||
             std::string_view("-_./=+,:@%").find(static_cast<char>(c)) != std::string_view::npos;
    });
    if (plain && word.find('$') == std::string::npos) {
      line += word;
      continue;
    }
    line += '\'';
    for (const char c : word) line += c == '\'' ? "'\\''" : std::string(1, c);
    line += '\'';
  }
  return line;
}

std::vector<std::string> split_at_commas(std::string_view list) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t comma = std::min(list.find(','), list.size());
    parts.emplace_back(list.substr(0, comma));
    if (comma == list.size()) return parts;
    list.remove_prefix(comma + 1);
  }
}

std::vector<std::string> lines_in(std::string_view text) {
  const std::vector<std::string_view> views = line_views(text);
  return {views.begin(), views.end()};
}

std::vector<std::string_view> line_views(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

std::string demangle(std::string_view name) {
  constexpr std::size_t kLongest = 2048;  // substitutions make the demangled form grow without bound
  if (!name.starts_with("_Z") || name.size() > kLongest) return std::string(name);
  const std::size_t at = name.find('@');
  const std::string mangled(name.substr(0, at));
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
  if (status != 0 || !text) return std::string(name);
  std::string result(text.get());
  if (at != std::string_view::npos) result += name.substr(at);
  return result;
}

std::string without_arguments(std::string_view name) {
  std::string out;
  int depth = 0;
  for (const char c : name) {
    if (c == '<') ++depth;
    if (depth == 0) out += c;
    if (c == '>' && depth > 0) --depth;
  }
  return out;
}

std::size_t utf8_length(std::string_view text) {
  if (text.empty()) return 0;
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  const std::size_t length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  // No overlong forms, no surrogates, nothing above U+10FFFF.
  if ((first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) > 0x9f)) return 0;
  if ((first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) > 0x8f)) return 0;
  return length;
}

std::string to_utf8(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0)
      out += "\xef\xbf\xbd";
    else
      out += text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

namespace {

bool turns_direction(char32_t c) {
  return c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

/// The spelling of `c` after `before`; empty when it can be shown. The one table of what terminals and CI systems obey.
std::string spelled(char32_t c, std::string_view before) {
  if (c == '\n') return "\\n";
  if (c == '\r') return "\\r";
  if (c == '\t') return "\\t";
  if (c < 0x20 || c == 0x7f || (c == '#' && before.ends_with('#')))
    return fmt::format("\\x{:02x}", static_cast<unsigned>(c));
  const bool hidden = (c >= 0x80 && c < 0xa0) || c == 0x2028 || c == 0x2029 || turns_direction(c);
  return hidden ? unicode_escape(c) : std::string();
}

bool is_plain(std::string_view text) {
  for (const char c : text)
    if (c < ' ' || c > '~' || c == '#')
      return false;  // char may be signed: bytes from 0x80 on are below ' ' or above '~'
  return true;
}

}  // namespace

std::string visible(std::string_view text) {
  std::string out;
  if (begins_command(text)) {
    const std::size_t margin = margin_of(text);
    out = std::string(text.substr(0, margin)) + "\\x3a";
    text.remove_prefix(margin + 1);
  }
  if (is_plain(text)) return out.append(text);
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const std::string_view one = text.substr(0, length == 0 ? 1 : length);
    const std::string spelling =
        length == 0 ? fmt::format("\\x{:02x}", static_cast<unsigned char>(one.front())) : spelled(code_point(one), out);
    out += spelling.empty() ? std::string(one) : spelling;
    text.remove_prefix(one.size());
  }
  return out;
}

bool is_obeyed(std::string_view line) {
  // The runner of GitHub Actions, src/Runner.Worker/ActionCommandManager.cs.
  constexpr std::string_view kCommands[] = {"error",       "warning",        "notice",        "debug",
                                            "group",       "endgroup",       "echo",          "add-mask",
                                            "add-matcher", "add-path",       "set-env",       "set-output",
                                            "save-state",  "remove-matcher", "stop-commands", "internal-set-repo-path"};
  std::string command(line);
  std::ranges::transform(command, command.begin(), [](char c) {
    return c == '\t' || c == '\f' ? ' ' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  if (begins_command(command)) {
    command.erase(0, margin_of(command) + 2);
    if (is_among(command.substr(0, std::min(command.find(' '), command.find("::"))), kCommands)) return true;
  }
  for (const std::string_view mark : {"##[", "##vso[", "##teamcity["})
    if (line.find(mark) != std::string_view::npos) return true;
  if (line.ends_with('\r')) line.remove_suffix(1);
  while (!line.empty()) {
    const std::size_t length = utf8_length(line);
    const auto byte = static_cast<unsigned char>(line.front());
    if (length == 0 && byte < 0xa0) return true;  // a C1 control to a terminal that does not read UTF-8
    const bool is_blank = byte == '\t' || byte == '\f';
    if (length != 0 && !is_blank && !spelled(code_point(line.substr(0, length)), {}).empty()) return true;
    line.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return false;
}

std::string hidden_escaped(std::string_view utf8, std::string (*escape)(char32_t)) {
  const auto may_be_hidden = [](char c) { return c == '#' || static_cast<unsigned char>(c) >= 0x7f; };
  std::string out;
  while (!utf8.empty()) {
    const auto plain = std::find_if(utf8.begin(), utf8.end(), may_be_hidden) - utf8.begin();
    out += utf8.substr(0, static_cast<std::size_t>(plain));
    utf8.remove_prefix(static_cast<std::size_t>(plain));
    const std::size_t length = utf8_length(utf8);
    if (utf8.empty()) break;
    const std::string_view one = utf8.substr(0, std::max<std::size_t>(length, 1));
    if (length == 0)
      out += to_utf8(one);
    else
      out += spelled(code_point(one), out).empty() ? std::string(one) : escape(code_point(one));
    utf8.remove_prefix(one.size());
  }
  return out;
}

std::string unicode_escape(char32_t c) { return fmt::format("\\u{:04x}", static_cast<unsigned>(c)); }

}  // namespace elfaudit
