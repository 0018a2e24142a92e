#include "locate/source/line_markers.hpp"

#include <charconv>

namespace elfaudit::source {
namespace {

constexpr std::size_t kDeepestInclude = 10000;

/// The path in a marker's quotes, its escapes undone.
std::string unquote(std::string_view text) {
  std::string result;
  for (std::size_t i = 1; i + 1 < text.size(); ++i) {
    if (text[i] == '\\' && i + 2 < text.size()) ++i;
    result += text[i];
  }
  return result;
}

/// <built-in> and <command-line> are no files: what is included there the command line asks for.
bool is_file(std::string_view path) { return !path.starts_with('<'); }

}  // namespace

LineMarkers::LineMarkers(std::string_view text, Interner& names)
    : text_(make_text({}, text)), lexer_(text_, names, 0, true) {
  inclusions_.push_back({file_number({}), 0, 0});
  open_.push_back(0);
}

std::uint32_t LineMarkers::file_number(const std::string& path) {
  const auto [known, is_new] = by_path_.try_emplace(path, static_cast<std::uint32_t>(paths_.size()));
  if (is_new) paths_.push_back(path);
  return known->second;
}

Token LineMarkers::next() {
  for (;;) {
    Token token = lexer_.next();
    if (token.is('#') && (token.flags & Token::LineStart) != 0) {
      marker();
      continue;
    }
    if (token.kind == Kind::End) return token;
    const std::uint32_t line = token.at.line;
    token.at = {open_.back(), static_cast<std::uint32_t>(line + offset_)};
    if ((token.flags & Token::LineStart) != 0)
      text_lines_.try_emplace(std::uint64_t{token.at.inclusion} << 32 | token.at.line, line);
    return token;
  }
}

/// `# LINE "PATH" FLAGS`, or `#line LINE "PATH"`; other directives (#pragma, -dD's #define) are passed over.
void LineMarkers::marker() {
  lexer_.enter_line();
  Token number = lexer_.next();
  if (number.text == "line") number = lexer_.next();
  const Token name = lexer_.next();
  bool entered = false;
  bool left = false;
  for (Token flag = lexer_.next(); flag.kind == Kind::Number; flag = lexer_.next()) {
    entered = entered || flag.text == "1";
    left = left || flag.text == "2";
  }
  const std::uint32_t text_line = number.at.line;
  lexer_.leave_line();
  std::uint32_t line = 0;
  const char* end = number.text.data() + number.text.size();
  if (number.kind != Kind::Number || std::from_chars(number.text.data(), end, line).ptr != end) return;
  if (name.kind != Kind::String) return;
  has_markers_ = true;
  const std::string path = unquote(name.text);
  if (path.ends_with("//")) {  // -fworking-directory
    folder_ = path.substr(0, path.size() - 2);
    return;
  }
  if (entered) {
    enter(path, static_cast<std::uint32_t>(text_line + offset_));
  } else if (left) {
    leave(path, line);
  } else if (open_.size() == 1) {
    // The first markers name the source, <built-in>, <command-line>, and the source again.
    if (paths_[inclusions_[0].file].empty()) inclusions_[0].file = file_number(path);
    main_is_file_ = is_file(path);
  } else if (path != paths_[inclusions_[open_.back()].file] && is_file(path)) {
    // #line in a header names the file that it was made from.
    inclusions_.push_back(inclusions_[open_.back()]);
    inclusions_.back().file = file_number(path);
    open_.back() = static_cast<std::uint32_t>(inclusions_.size() - 1);
  }
  offset_ = std::int64_t{line} - (std::int64_t{text_line} + 1);
}

void LineMarkers::enter(const std::string& path, std::uint32_t line) {
  const bool asked_by_command = open_.size() == 1 && !main_is_file_;
  inclusions_.push_back({file_number(path), open_.back(), asked_by_command ? 0 : line});
  if (open_.size() < kDeepestInclude) open_.push_back(static_cast<std::uint32_t>(inclusions_.size() - 1));
}

/// The marker that leads back has the line behind the #include, which is exact where the line of entering is not: empty
/// lines before an #include are left out.
void LineMarkers::leave(const std::string& path, std::uint32_t line) {
  if (open_.size() <= 1) return;
  const std::uint32_t left = open_.back();
  open_.pop_back();
  if (open_.size() == 1) main_is_file_ = is_file(path);
  if (inclusions_[left].line != 0 && line > 1) inclusions_[left].line = line - 1;
}

std::string LineMarkers::line_text(const Spot& spot) const {
  const auto found = text_lines_.find(std::uint64_t{spot.inclusion} << 32 | spot.line);
  return found == text_lines_.end() ? std::string() : line_of(text_, line_starts_, found->second);
}

}  // namespace elfaudit::source
