// Lines of a source and an edit of them as a unified diff.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "elfaudit/finding.hpp"
#include "locate/why/file_contents.hpp"

namespace elfaudit {

/// The diff that puts `replacement` in the place of line `at`; for `patch -p0`. Empty when there is no such line.
std::string replace_line(FileContents& files, const SourceLine& at, const std::vector<std::string>& replacement);

/// The same for `count` lines from `at` on.
std::string replace_lines(FileContents& files, const SourceLine& at, std::size_t count,
                          const std::vector<std::string>& replacement);

/// What a diff does.
struct LineEdit {
  SourceLine first;
  std::size_t count = 0;               ///< of the lines that go
  std::vector<std::string> old_lines;  ///< these
  std::vector<std::string> lines;      ///< that come in their place
  auto operator<=>(const LineEdit&) const = default;
};

/// Of a diff as the functions above write it.
std::optional<LineEdit> edit_of(std::string_view diff);

/// The text of the file after the edits, of which no two overlap. Nothing when it can't be read.
std::optional<std::string> edited_text(FileContents& files, const std::string& file,
                                       const std::vector<const LineEdit*>& edits);

/// Has the text the word, not as a part of a longer one?
bool has_word(std::string_view text, std::string_view word);

}  // namespace elfaudit
