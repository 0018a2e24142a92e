#include "input/script_lexer.hpp"

#include <algorithm>
#include <array>

namespace elfaudit {
namespace {

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         static_cast<unsigned char>(c) >= 0x80;
}

bool among(char c, std::string_view set) { return set.find(c) != std::string_view::npos; }

constexpr std::array<std::string_view, 16> kOperators{
    "<<=", ">>=", "+=", "-=", "*=", "/=", "&=", "|=", "^=", "<<", ">>", "==", "!=", "<=", ">=", "&&"};

}  // namespace

std::size_t ScriptLexer::line() const {
  return 1 +
         static_cast<std::size_t>(std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n'));
}

bool ScriptLexer::skip_space_and_comments() {
  while (at_ < text_.size()) {
    if (is_space(text_[at_])) {
      ++at_;
    } else if (text_[at_] == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (text_.substr(at_, 2) == "/*") {
      const std::size_t end = text_.find("*/", at_ + 2);
      if (end == std::string_view::npos) return false;
      at_ = end + 2;
    } else {
      break;
    }
  }
  return true;
}

bool ScriptLexer::in_name(char c, ScriptMode mode) const {
  if (is_alphanumeric(c) || among(c, "_.$")) return true;
  if (mode == ScriptMode::Expression) return false;
  if (among(c, "/\\~-+:[]")) return true;
  return mode == ScriptMode::FileList ? among(c, "=&!<>@%") || (c == ',' && comma_in_names_) : among(c, "*?@");
}

ScriptToken ScriptLexer::quoted() {
  const std::size_t end = text_.find('"', at_ + 1);
  if (end == std::string_view::npos) return {ScriptToken::Kind::Bad, "\"", true};
  ScriptToken token{ScriptToken::Kind::Name, std::string(text_.substr(at_ + 1, end - at_ - 1)), true};
  at_ = end + 1;
  return token;
}

ScriptToken ScriptLexer::punctuation() {
  const auto* found = std::find_if(kOperators.begin(), kOperators.end(),
                                   [&](std::string_view op) { return text_.substr(at_).starts_with(op); });
  const std::string_view op = found != kOperators.end() ? *found : text_.substr(at_, 1);
  at_ += op.size();
  return {ScriptToken::Kind::Punctuation, std::string(op), false};
}

ScriptToken ScriptLexer::next(ScriptMode mode) {
  if (!skip_space_and_comments()) return {ScriptToken::Kind::Bad, "/*", false};
  if (at_ == text_.size()) return {};
  if (text_[at_] == '"') return quoted();
  // "+=" and "-=" must not begin a name, and a name never begins with a comma.
  const bool begins_name =
      in_name(text_[at_], mode) && text_[at_] != ',' &&
      (mode == ScriptMode::FileList || !among(text_[at_], "*-+:") || text_.substr(at_ + 1, 1) != "=");
  if (!begins_name) return punctuation();
  const std::size_t begin = at_;
  while (at_ < text_.size() && in_name(text_[at_], mode)) {
    // "a+=1" and "a:=1" are assignments without blanks, not names.
    if (mode == ScriptMode::Statement && among(text_[at_], "+-*/:") && text_.substr(at_ + 1, 1) == "=") break;
    if (text_.substr(at_, 2) == "/*" && mode != ScriptMode::Statement) break;
    ++at_;
  }
  return {ScriptToken::Kind::Name, std::string(text_.substr(begin, at_ - begin)), false};
}

ScriptToken ScriptLexer::peek(ScriptMode mode) {
  const std::size_t at = at_;
  ScriptToken token = next(mode);
  at_ = at;
  return token;
}

std::optional<std::string_view> ScriptLexer::braced() {
  const std::size_t begin = at_;
  for (int depth = 1; at_ < text_.size();) {
    if (!skip_space_and_comments()) return std::nullopt;
    if (at_ == text_.size()) return std::nullopt;
    const char c = text_[at_++];
    if (c == '"') at_ = std::min(text_.find('"', at_), text_.size() - 1) + 1;
    depth += c == '{' ? 1 : c == '}' ? -1 : 0;
    if (depth == 0) return text_.substr(begin, at_ - 1 - begin);
  }
  return std::nullopt;
}

}  // namespace elfaudit
