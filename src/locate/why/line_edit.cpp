#include "locate/why/line_edit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace elfaudit {
namespace {

constexpr std::size_t kContext = 3;

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

/// Writes the lines of a hunk, and what `patch` wants to know of a file whose last line has no end.
class Hunk {
 public:
  Hunk(std::string& diff, bool last_line_ends) : diff_(diff), last_line_ends_(last_line_ends) {}

  void add(char kind, const std::string& line, bool is_last) {
    diff_ += kind + line + "\n";
    if (is_last && !last_line_ends_) diff_ += "\\ No newline at end of file\n";
  }

 private:
  std::string& diff_;
  const bool last_line_ends_;
};

}  // namespace

std::string replace_lines(FileContents& files, const SourceLine& at, std::size_t count,
                          const std::vector<std::string>& replacement) {
  const auto* lines = files.lines_of(at.file);
  if (lines == nullptr || at.line == 0 || count == 0 || count > lines->size() || at.line > lines->size() - count + 1)
    return {};
  const std::size_t edited = at.line - 1;
  const std::size_t behind = edited + count;
  const std::size_t first = edited - std::min(edited, kContext);
  const std::size_t last = std::min(behind + kContext, lines->size());
  std::string diff = fmt::format("--- {0}\n+++ {0}\n@@ -{1},{2} +{1},{3} @@\n", at.file, first + 1, last - first,
                                 last - first - count + replacement.size());
  Hunk hunk(diff, files.last_line_ends(at.file));
  const auto is_last = [&](std::size_t i) { return i + 1 == lines->size(); };
  for (std::size_t i = first; i < edited; ++i) hunk.add(' ', (*lines)[i], false);
  const std::string& old = (*lines)[edited];
  const bool kept = count == 1 && std::find(replacement.begin(), replacement.end(), old) != replacement.end();
  for (std::size_t i = edited; i < behind && !kept; ++i) hunk.add('-', (*lines)[i], is_last(i));
  for (const std::string& line : replacement)
    hunk.add(kept && line == old ? ' ' : '+', line, is_last(behind - 1) && &line == &replacement.back());
  for (std::size_t i = behind; i < last; ++i) hunk.add(' ', (*lines)[i], is_last(i));
  return diff;
}

std::string replace_line(FileContents& files, const SourceLine& at, const std::vector<std::string>& replacement) {
  return replace_lines(files, at, 1, replacement);
}

std::optional<LineEdit> edit_of(std::string_view diff) {
  LineEdit edit;
  const auto next_line = [&] {
    const std::size_t end = std::min(diff.find('\n'), diff.size());
    const std::string_view line = diff.substr(0, end);
    diff.remove_prefix(std::min(end + 1, diff.size()));
    return line;
  };
  const std::string_view from = next_line();
  next_line();
  const std::string_view head = next_line();
  constexpr std::string_view kHead = "@@ -";
  if (!from.starts_with("--- ") || !head.starts_with(kHead)) return std::nullopt;
  edit.first.file = from.substr(4);
  std::uint32_t line = 0;
  std::from_chars(head.data() + kHead.size(), head.data() + head.size(), line);
  std::vector<std::string> context;  // since the last change
  for (; !diff.empty();) {
    const std::string_view text = next_line();
    if (text.empty()) return std::nullopt;
    const std::string body(text.substr(1));
    if (text.front() == '\\') continue;
    if (text.front() == ' ') {
      context.push_back(body);
      ++line;
      continue;
    }
    if (edit.first.line == 0) {
      edit.first.line = line;
    } else {
      edit.old_lines.insert(edit.old_lines.end(), context.begin(), context.end());
      edit.lines.insert(edit.lines.end(), context.begin(), context.end());
    }
    context.clear();
    if (text.front() == '-') ++line;
    (text.front() == '-' ? edit.old_lines : edit.lines).push_back(body);
  }
  edit.count = edit.old_lines.size();
  if (edit.first.line == 0) return std::nullopt;
  return edit;
}

std::optional<std::string> edited_text(FileContents& files, const std::string& file,
                                       const std::vector<const LineEdit*>& edits) {
  const auto* lines = files.lines_of(file);
  if (lines == nullptr) return std::nullopt;
  std::vector<const LineEdit*> ordered = edits;
  std::sort(ordered.begin(), ordered.end(),
            [](const LineEdit* a, const LineEdit* b) { return a->first.line < b->first.line; });
  std::string text;
  std::size_t at = 0;
  const auto copy_to = [&](std::size_t end) {
    for (; at < end && at < lines->size(); ++at) text += (*lines)[at] + "\n";
  };
  for (const LineEdit* edit : ordered) {
    copy_to(edit->first.line - 1);
    for (const std::string& line : edit->lines) text += line + "\n";
    at += edit->count;
  }
  copy_to(lines->size());
  return text;
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
