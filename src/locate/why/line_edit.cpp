#include "locate/why/line_edit.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace elfaudit {
namespace {

constexpr std::size_t kContext = 3;

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

}  // namespace

std::string replace_line(FileContents& files, const SourceLine& at, const std::vector<std::string>& replacement) {
  const auto* lines = files.lines_of(at.file);
  if (lines == nullptr || at.line == 0 || at.line > lines->size()) return {};
  const std::size_t edited = at.line - 1;
  const std::size_t first = edited - std::min(edited, kContext);
  const std::size_t last = std::min(edited + kContext + 1, lines->size());
  std::string diff = fmt::format("--- {0}\n+++ {0}\n@@ -{1},{2} +{1},{3} @@\n", at.file, first + 1, last - first,
                                 last - first - 1 + replacement.size());
  for (std::size_t i = first; i < edited; ++i) diff += " " + (*lines)[i] + "\n";
  const std::string& old = (*lines)[edited];
  const bool kept = std::find(replacement.begin(), replacement.end(), old) != replacement.end();
  if (!kept) diff += "-" + old + "\n";
  for (const std::string& line : replacement) diff += (line == old ? " " : "+") + line + "\n";
  for (std::size_t i = edited + 1; i < last; ++i) diff += " " + (*lines)[i] + "\n";
  return diff;
}

bool has_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const bool begins = at == 0 || !is_word(text[at - 1]);
    const bool ends = at + word.size() >= text.size() || !is_word(text[at + word.size()]);
    if (begins && ends) return true;
  }
  return false;
}

}  // namespace elfaudit
